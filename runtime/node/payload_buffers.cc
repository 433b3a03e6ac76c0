#include "runtime/node/payload_buffers.h"

#include "collectives/check.h"

namespace fibocast {

PayloadBuffers::PayloadBuffers(std::span<Entry> entries, std::uint64_t payload_bytes, std::uint32_t eager_entries)
    : entries_(entries),
      payload_bytes_(payload_bytes),
      free_eager_(eager_entries),
      free_others_(static_cast<std::uint32_t>(entries.size()) - eager_entries) {
  check(eager_entries < entries.size());
  for (std::size_t i = entries.size(); i > 0; --i) {
    entries_[i - 1] = Entry{};
    entries_[i - 1].next = free_;
    free_ = static_cast<BufferId>(i - 1);
  }
}

std::uint64_t PayloadBuffers::share(BufferUse use) const {
  if (use == BufferUse::kEager) return ~0ull;
  if (use == BufferUse::kSent) return payload_bytes_ / 16 * 3;
  return payload_bytes_ / (use == BufferUse::kHosts ? 64 : 4);
}

bool PayloadBuffers::has_room(std::uint64_t bytes, BufferUse use) const {
  const std::uint64_t used = used_[static_cast<int>(use)];
  if (use == BufferUse::kSent)
    return (used == 0 || used + bytes <= share(use)) && has_room(bytes, BufferUse::kOutgoing);
  return bytes <= share(use) && used <= share(use) - bytes;
}

std::optional<BufferId> PayloadBuffers::reserve(std::uint64_t bytes, BufferUse use) {
  std::uint32_t& free = use == BufferUse::kEager ? free_eager_ : free_others_;
  if (free == 0 || !has_room(bytes, use)) return std::nullopt;
  const BufferId id = free_;
  free_ = entries_[id].next;
  entries_[id] = Entry{bytes, 1, kNoBuffer, use};
  used_[static_cast<int>(use)] += bytes;
  if (use == BufferUse::kSent) used_[static_cast<int>(BufferUse::kOutgoing)] += bytes;
  --free;
  return id;
}

void PayloadBuffers::add_reference(BufferId id) {
  check(exists(id));
  ++entries_[id].references;
}

void PayloadBuffers::release(BufferId id) {
  check(exists(id));
  Entry& e = entries_[id];
  if (--e.references > 0) return;
  used_[static_cast<int>(e.use)] -= e.bytes;
  if (e.use == BufferUse::kSent) used_[static_cast<int>(BufferUse::kOutgoing)] -= e.bytes;
  e.next = freed_;
  freed_ = id;
}

bool PayloadBuffers::poll_freed(BufferId& id) {
  if (freed_ == kNoBuffer) return false;
  id = freed_;
  freed_ = entries_[id].next;
  entries_[id].next = free_;
  free_ = id;
  ++(entries_[id].use == BufferUse::kEager ? free_eager_ : free_others_);
  return true;
}

}  // namespace fibocast

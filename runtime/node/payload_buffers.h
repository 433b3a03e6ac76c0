// Which payload buffers exist at a node and who still needs them. The bytes themselves are the host's. Core.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "collectives/types.h"
#include "transport/words.h"

namespace fibocast {

// What a buffer is for. Each of the first has its own quarter of Limits::payload_bytes, so that none can starve the
// others.
enum class BufferUse : std::uint8_t {
  kOutgoing = 0,  // payloads that local applications send
  kIncoming = 1,  // the oldest operation of a group that is not over at this node
  kAhead = 2,     // later ones: what waits here to be collected after an older one cannot take that one's place
  kMessages = 3,  // application messages
  kEager = 4,     // not counted: bounded by open generations and message credit times Limits::eager_bytes
  kHosts = 5,     // the hosts' own messages, where applications have used up what both have; not a quarter, a 64th
  kSent = 6,      // of kOutgoing's quarter: messages. 3/4 of it, or one alone: operations do not wait for receivers
};

class PayloadBuffers {
 public:
  struct Entry {
    std::uint64_t bytes = 0;
    std::uint32_t references = 0;
    BufferId next = kNoBuffer;  // in the list of free or of freed buffers
    BufferUse use = BufferUse::kEager;
  };

  // `eager_entries` of the table are kept for kEager.
  PayloadBuffers(std::span<Entry> entries, std::uint64_t payload_bytes, std::uint32_t eager_entries);

  // A new buffer with one reference; none when its share or the table is used up just now.
  std::optional<BufferId> reserve(std::uint64_t bytes, BufferUse use);
  void add_reference(BufferId id);
  void release(BufferId id);  // the last one frees it: poll_freed() tells the host
  bool poll_freed(BufferId& id);
  bool has_freed() const { return freed_ != kNoBuffer; }

  // Whether this many bytes can ever fit a share.
  bool can_ever_fit(std::uint64_t bytes) const { return bytes <= payload_bytes_ / 4; }
  std::uint64_t share(BufferUse use) const;
  std::uint64_t bytes(BufferId id) const { return entries_[id].bytes; }
  std::uint64_t used() const { return used_[0] + used_[1] + used_[2] + used_[3] + used_[4] + used_[5]; }
  std::uint32_t in_use() const { return static_cast<std::uint32_t>(entries_.size()) - free_eager_ - free_others_; }
  std::uint32_t references(BufferId id) const { return entries_[id].references; }
  bool exists(BufferId id) const { return id < entries_.size() && entries_[id].references > 0; }

 private:
  bool has_room(std::uint64_t bytes, BufferUse use) const;

  std::span<Entry> entries_;
  std::uint64_t payload_bytes_;
  std::uint32_t free_eager_ = 0, free_others_ = 0;
  std::uint64_t used_[7] = {0, 0, 0, 0, 0, 0, 0};  // what is kSent is in kOutgoing, too
  BufferId free_ = kNoBuffer;
  BufferId freed_ = kNoBuffer;
};

}  // namespace fibocast

#include "runtime/daemon/mesh_links.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <system_error>

namespace fibocast {
namespace {

enum Direction : std::uint32_t { kEast, kWest, kSouth, kNorth, kDirections };

[[noreturn]] void fail(const std::string& file) {
  throw std::system_error(errno, std::system_category(), "the links of the emulated mesh, " + file);
}

}  // namespace

std::optional<std::vector<NodeId>> parse_places(const std::string& text, std::uint32_t columns) {
  std::vector<NodeId> places;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    NodeId place = 0;
    const auto [next, error] = std::from_chars(at, end, place);
    if (error != std::errc{}) return std::nullopt;
    places.push_back(place);
    if (next == end) break;
    if (*next != ',') return std::nullopt;
    at = next + 1;
  }
  std::vector<NodeId> sorted = places, all(places.size());
  std::ranges::sort(sorted);
  std::iota(all.begin(), all.end(), NodeId{0});
  if (sorted != all || columns == 0 || places.size() % columns != 0) return std::nullopt;
  return places;
}

MeshLinks::MeshLinks(MeshSettings settings, NodeId self) : settings_(std::move(settings)), self_(self) {
  const std::size_t count = kDirections * settings_.places.size();
  const std::size_t bytes = count * sizeof(Nanoseconds);
  descriptor_ = open(settings_.file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0660);
  if (descriptor_ < 0) fail(settings_.file);
  void* memory = MAP_FAILED;
  if (ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0)  // what is new in it is zero: free
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (memory == MAP_FAILED) {
    close(descriptor_);
    fail(settings_.file);
  }
  free_ = {static_cast<Nanoseconds*>(memory), count};
  way_.reserve(settings_.places.size());
}

MeshLinks::~MeshLinks() {
  munmap(free_.data(), free_.size_bytes());
  close(descriptor_);
}

// Along the row first, then along the column: each link by the place that it leaves and its direction.
void MeshLinks::find_way(NodeId from, NodeId to) {
  const NodeId columns = settings_.columns;
  way_.clear();
  while (from % columns != to % columns) {
    const bool east = from % columns < to % columns;
    way_.push_back(kDirections * from + (east ? kEast : kWest));
    from = east ? from + 1 : from - 1;
  }
  while (from != to) {
    const bool south = from < to;
    way_.push_back(kDirections * from + (south ? kSouth : kNorth));
    from = south ? from + columns : from - columns;
  }
}

Nanoseconds MeshLinks::carry(NodeId source, Nanoseconds departs) {
  find_way(settings_.places[source], settings_.places[self_]);
  flock(descriptor_, LOCK_EX);  // goes with a daemon that dies
  Nanoseconds begins = departs;
  for (const std::uint32_t link : way_) begins = std::max(begins, free_[link]);
  for (const std::uint32_t link : way_) free_[link] = begins + settings_.hold;
  flock(descriptor_, LOCK_UN);
  return begins + settings_.latency;
}

Nanoseconds MeshLinks::wire(void* machine, std::uint64_t source, std::uint64_t, Nanoseconds departs) {
  return static_cast<MeshLinks*>(machine)->carry(static_cast<NodeId>(source), departs);
}

}  // namespace fibocast

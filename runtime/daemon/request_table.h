// The requests of one client that the node has taken and not yet answered. A fixed number of places: the bound on
// what one client can have under way.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "collectives/types.h"
#include "runtime/daemon/metrics/operation_metrics.h"

namespace fibocast {

struct PendingRequest {
  enum class Kind : std::uint8_t { kFree, kCall, kReceive, kCreate, kPlan };
  Kind kind = Kind::kFree;
  std::uint64_t id = 0;      // the client's
  std::uint64_t cookie = 0;  // ours at the node
  Operation operation = Operation::kBarrier;
  AskedCall asked;    // kCall
  std::string group;  // its memory is used again
  std::string label;
  Nanoseconds waited = 0;         // how long the client wants to wait
  Nanoseconds deadline = kNever;  // kReceive: absolute; calls have theirs in the node
};

class RequestTable {
 public:
  static constexpr std::uint32_t kPlaces = 64;

  bool full() const { return used_ == kPlaces; }
  std::uint32_t used() const { return used_; }
  // Precondition: !full(). The cookie's lowest bits say the place; `stamp` (the rest) makes it unique.
  PendingRequest& take(PendingRequest::Kind kind, std::uint64_t id, std::uint64_t stamp) {
    std::uint32_t place = 0;
    while (places_[place].kind != PendingRequest::Kind::kFree) ++place;
    ++used_;
    PendingRequest& request = places_[place];
    request.kind = kind;
    request.id = id;
    request.cookie = stamp | place;
    request.deadline = kNever;
    return request;
  }
  void free(PendingRequest& request) {
    request.kind = PendingRequest::Kind::kFree;
    --used_;
  }
  // Null: it has been answered or given up.
  PendingRequest* find(std::uint64_t cookie) {
    PendingRequest& request = places_[cookie % kPlaces];
    return request.kind != PendingRequest::Kind::kFree && request.cookie == cookie ? &request : nullptr;
  }
  PendingRequest* find_id(std::uint64_t id) {
    for (PendingRequest& request : places_)
      if (request.kind != PendingRequest::Kind::kFree && request.id == id) return &request;
    return nullptr;
  }
  template <class Visit>
  void for_each(Visit visit) {
    for (PendingRequest& request : places_)
      if (request.kind != PendingRequest::Kind::kFree) visit(request);
  }

 private:
  std::array<PendingRequest, kPlaces> places_;
  std::uint32_t used_ = 0;
};

}  // namespace fibocast

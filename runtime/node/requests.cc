#include "runtime/node/requests.h"

#include <memory>

#include "collectives/check.h"

namespace fibocast {

RequestList::RequestList(std::span<Request> requests) : requests_(requests) {
  for (std::size_t i = requests.size(); i > 0; --i) {
    requests_[i - 1].next = free_;
    free_ = static_cast<std::uint32_t>(i - 1);
  }
}

std::uint32_t RequestList::add(Request::State state) {
  if (free_ == kNoRequest) return kNoRequest;
  const std::uint32_t i = free_;
  free_ = requests_[i].next;
  std::construct_at(&requests_[i]);
  requests_[i].state = state;
  ++in_use_;
  return i;
}

void RequestList::answer(std::uint32_t i) {
  check(requests_[i].state != Request::State::kFree && requests_[i].state != Request::State::kDone);
  requests_[i].state = Request::State::kDone;
  requests_[i].next = kNoRequest;
  if (last_answer_ == kNoRequest)
    first_answer_ = i;
  else
    requests_[last_answer_].next = i;
  last_answer_ = i;
}

std::uint32_t RequestList::poll_answer() {
  const std::uint32_t i = first_answer_;
  if (i == kNoRequest) return i;
  first_answer_ = requests_[i].next;
  if (first_answer_ == kNoRequest) last_answer_ = kNoRequest;
  return i;
}

void RequestList::release(std::uint32_t i) {
  requests_[i].state = Request::State::kFree;
  requests_[i].next = free_;
  free_ = i;
  --in_use_;
}

}  // namespace fibocast

// What an EmbeddedNode's node has no room for just now, in the order in which it came.
#include <algorithm>

#include "runtime/client/embedded_host.h"

namespace fibocast {
namespace {

std::string_view group_of(const EmbeddedRequest* request, std::string_view group_of_ended) {
  if (request == nullptr) return group_of_ended;
  return request->kind == EmbeddedRequest::Kind::kOperate ? request->call.group : std::string_view();
}

}  // namespace

// Operations of a group are numbered in the order of the calls; messages come in it, per peer and tag.
bool EmbeddedHost::is_overtaking(const EmbeddedRequest& request) const {
  return std::ranges::any_of(waiting_, [&](const Waiting& w) {
    if (request.kind == EmbeddedRequest::Kind::kOperate) return group_of(w.request, w.group) == request.call.group;
    if (w.request == nullptr || w.request->kind != request.kind || w.request->tag != request.tag) return false;
    if (request.kind == EmbeddedRequest::Kind::kSend) return w.request->to == request.to;
    return request.kind == EmbeddedRequest::Kind::kReceive;
  });
}

// The calls after it have the next numbers, here as at the others. False: no room for that just now.
bool EmbeddedHost::pass(const Waiting& ended) {
  Call call;
  Opened* opened = nullptr;
  if (!opened_.contains(ended.group)) return true;  // it would have joined whatever was open
  if (find_group(ended.group, 0, call, opened) != Admission::kTaken) return true;
  call.operation = ended.operation, call.root = ended.root;
  if (host_.node().pass(call, host_.now()) == Admission::kWouldBlock) return false;
  ++opened->next;
  return true;
}

// Those before which no call of their group waits. True: some are through.
bool EmbeddedHost::pass_ended() {
  bool any = false;
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    const bool is_first = at->request == nullptr && std::none_of(waiting_.begin(), at, [&](const Waiting& w) {
                            return group_of(w.request, w.group) == at->group;
                          });
    const bool passed = is_first && pass(*at);
    at = passed ? waiting_.erase(at) : at + 1;
    any = any || passed;
  }
  return any;
}

// First come, first served: the first that still has no room keeps the others waiting.
bool EmbeddedHost::retry_waiting() {
  bool any = pass_ended();
  while (!waiting_.empty() && waiting_.front().request != nullptr && attempt(*waiting_.front().request)) {
    waiting_.pop_front();
    any = true;
  }
  return any;
}

bool EmbeddedHost::on_drained() {
  listen();
  const bool refused = refusals_.retry();
  return retry_waiting() || refused;
}

// What waits too long. Operations leave their places behind.
void EmbeddedHost::end_waiting(Nanoseconds now, std::vector<EmbeddedRequest*>& late) {
  for (Waiting& w : waiting_) {
    if (w.request == nullptr || w.request->until > now) continue;
    late.push_back(w.request);
    w = {nullptr, std::string(group_of(w.request, {})), w.request->call.operation, w.request->call.root};
  }
  std::erase_if(waiting_, [](const Waiting& w) { return w.request == nullptr && w.group.empty(); });
}

}  // namespace fibocast

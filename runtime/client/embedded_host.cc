#include "runtime/client/embedded_host.h"

#include <algorithm>
#include <cstring>

#include "collectives/given_tree.h"
#include "runtime/client/translate.h"
#include "runtime/daemon/group_messages.h"
#include "runtime/wire/client_status.h"
#include "runtime/wire/policy_text.h"

namespace fibocast {
namespace {

constexpr std::size_t kWorthAPlace = 4096;  // bytes: smaller ones are copied for less than it costs to say where
constexpr std::uint64_t kListening = std::uint64_t{1} << 63;          // no request's cookie
constexpr Nanoseconds kLongestWait = 365ll * 86'400 * 1'000'000'000;  // a year: no overflow when added to the time

std::string subject_of(const EmbeddedRequest& request) {
  switch (request.kind) {
    case EmbeddedRequest::Kind::kOperate:
      return (request.call.operation == Operation::kBarrier ? "barrier '" : "multicast '") +
             std::string(request.call.group) + "'";
    case EmbeddedRequest::Kind::kSend: return "message to rank " + std::to_string(request.to);
    case EmbeddedRequest::Kind::kReceive: return "receive";
    case EmbeddedRequest::Kind::kCreate:
    case EmbeddedRequest::Kind::kPlan: return "group '" + request.create->name + "'";
  }
  return {};
}

// The node's words for what happened are those of the daemon: made as its answer and read as a client would.
Status status_of(const EmbeddedRequest& request, Admission admission) {
  client::Response response;
  describe_admission(subject_of(request), admission, *response.mutable_status());
  return decode_status(response);
}

void end(EmbeddedRequest& request, Outcome&& outcome, Rank from = kNoRank) {
  const auto self = std::move(request.self);
  const auto on_end = std::move(request.on_end);
  if (on_end) on_end(std::move(outcome), from);
}

Outcome to_outcome(Status status) {
  Outcome outcome;
  outcome.status = std::move(status);
  return outcome;
}

void end(EmbeddedRequest& request, Status status) { end(request, to_outcome(std::move(status))); }

Status too_late(const EmbeddedRequest& request) {
  return {Code::kDeadlineExceeded, subject_of(request) + ": deadline passed; nothing came, or there was no room", {}};
}

}  // namespace

EmbeddedHost::EmbeddedHost(boost::asio::io_context& context, Transport& transport, const Limits& limits,
                           const NodeSettings& settings, Nanoseconds default_deadline, const GroupPlanner& planner)
    : default_deadline_(default_deadline),
      listens_(limits.host_credit > 0),
      planner_(planner),
      host_(context, transport, limits, settings, WaitPolicy::kAdaptive,
            {.on_call_done = [this](const Event& event) { on_call_done(event); },
             .on_event = [this](const Event& event) { on_event(event); },
             .place_of = [this](std::uint64_t cookie, BufferId buffer,
                                std::size_t bytes) { return place_of(cookie, buffer, bytes); },
             .on_drained = [this] { return on_drained(); }}),
      refusals_(host_, "rank " + std::to_string(settings.self) +
                           " is a node in the process of an application, which has no clients; ask another rank"),
      timer_(context) {}

void EmbeddedHost::take(EmbeddedRequest& request) {
  request.until = host_.read_clock() + std::min(patience_of(request.call), kLongestWait);
  const bool must_wait = is_overtaking(request);
  if (must_wait && request.try_only)
    end(request, status_of(request, Admission::kWouldBlock));
  else if (must_wait || !attempt(request))
    waiting_.push_back({.request = &request});
  arm_timer();
  host_.pump();
}

// True: the node has it, or it was answered. False: no room just now.
bool EmbeddedHost::attempt(EmbeddedRequest& request) {
  const std::uint64_t cookie = next_cookie_++;
  const Admission admission = give_to_node(request, cookie);
  if (admission == Admission::kWouldBlock && !request.try_only) return false;
  if (admission != Admission::kTaken)
    end(request, status_of(request, admission));
  else if (request.kind == EmbeddedRequest::Kind::kSend)
    end(request, Status{});
  else
    pending_.emplace(cookie, &request);
  return true;
}

Admission EmbeddedHost::give_to_node(EmbeddedRequest& request, std::uint64_t cookie) {
  if (request.tag >= Node::kFirstReservedTag) return Admission::kReservedTag;
  switch (request.kind) {
    case EmbeddedRequest::Kind::kOperate: return operate(request, cookie);
    case EmbeddedRequest::Kind::kSend: return send(request);
    case EmbeddedRequest::Kind::kReceive: return host_.node().receive_message(request.tag, cookie, host_.now());
    case EmbeddedRequest::Kind::kCreate: return create(request, cookie);
    case EmbeddedRequest::Kind::kPlan: return plan(request, cookie);
  }
  return Admission::kBadName;
}

// Gives the payload to a buffer of the node: copied now, or lent, if the caller keeps it until the end.
Admission EmbeddedHost::stage(EmbeddedRequest& request, PayloadRange& staged) {
  const std::span<const std::byte> payload = request.call.payload;
  if (payload.empty()) return Admission::kTaken;
  if (!host_.node().fits_budget(payload.size())) return Admission::kTooLarge;
  const bool operates = request.kind == EmbeddedRequest::Kind::kOperate;
  const auto buffer =
      host_.node().reserve_buffer(payload.size(), operates ? BufferFor::kOperation : BufferFor::kMessage);
  if (!buffer) return Admission::kWouldBlock;
  staged = {*buffer, 0, payload.size()};
  if (operates && payload.size() >= kWorthAPlace)
    host_.fill(request.sent_from = *buffer, payload);
  else
    std::memcpy(host_.bytes_of(staged).data(), payload.data(), payload.size());
  return Admission::kTaken;
}

// By its own number, if it was opened.
Admission EmbeddedHost::find_group(std::string_view group, std::uint32_t participants, Call& call, Opened*& opened) {
  const auto found = opened_.find(group);
  Generation open = 0;
  if (found == opened_.end()) return host_.node().open_group(group, participants, call.group, open);
  opened = &found->second;
  if (opened->is_behind) {
    const Admission back = host_.node().open_group(group, 0, opened->id, opened->next);
    if (back != Admission::kTaken) return back;
    opened->is_behind = false, opened->definition = find_group_info(host_.node(), opened->id)->definition;
  }
  call.group = opened->id, call.definition = opened->definition;
  call.generation = opened->next;
  return Admission::kTaken;
}

Admission EmbeddedHost::operate(EmbeddedRequest& request, std::uint64_t cookie) {
  const OperationCall& wanted = request.call;
  Call call;
  call.cookie = cookie;
  Opened* opened = nullptr;
  if (const Admission found = find_group(wanted.group, wanted.participants, call, opened); found != Admission::kTaken)
    return found;
  call.operation = wanted.operation;
  call.choice = wanted.choice;
  call.type = wanted.combination.type;
  call.op = wanted.combination.op;
  call.total_bytes = wanted.total_bytes;
  call.root = wanted.root;
  call.deadline = request.until;
  if (wanted.options != nullptr) call.not_before = wanted.options->not_before, call.charged = wanted.options->charged;
  call.has_place = wanted.into.size() >= kWorthAPlace;
  Admission admission = stage(request, call.payload);
  if (admission == Admission::kTaken) admission = host_.node().call(call, host_.now());
  if (admission != Admission::kTaken && call.payload.buffer != kNoBuffer)
    host_.node().release_buffer(call.payload.buffer);
  if (admission == Admission::kTaken && opened != nullptr) ++opened->next;
  return admission;
}

Admission EmbeddedHost::send(EmbeddedRequest& request) {
  PayloadRange staged;
  Admission admission = stage(request, staged);
  if (admission == Admission::kTaken)
    admission = host_.node().send_message(request.to, request.tag, staged, host_.now());
  if (admission != Admission::kTaken && staged.buffer != kNoBuffer) host_.node().release_buffer(staged.buffer);
  return admission;
}

Admission EmbeddedHost::create(EmbeddedRequest& request, std::uint64_t cookie) {
  const GroupRequest& wanted = *request.create;
  if (is_reserved_name(wanted.name)) return Admission::kReservedName;
  GroupDefinition definition;
  definition.name = wanted.name, definition.routers = wanted.routers;
  definition.participants = std::max(1u, wanted.participants);
  definition.if_missing = wanted.if_missing;
  std::vector<NodeId> nodes = wanted.nodes;
  std::sort(nodes.begin(), nodes.end());
  for (const NodeId node : nodes)
    if (!definition.members.add(node)) return Admission::kTooLarge;
  if (wanted.routers >= definition.members.size()) return Admission::kBadRank;
  PolicyChoice choice;
  if (!read_policy(wanted.policy, definition.members.size(), choice).empty()) return Admission::kBadPolicy;
  definition.policy = choice.policy, definition.quorum = choice.quorum;
  const Rank ranks = definition.members.size() - wanted.routers;
  const bool shrinks = choice.policy != GroupPolicy::kAll;  // trees can be made anew for any number of ranks
  const bool named = shrinks || wanted.reduction || wanted.distribution || wanted.tree;
  definition.plan = named ? planner_.trees() : planner_.plan(ranks);
  if (wanted.reduction) definition.plan.reduction = *wanted.reduction;
  if (wanted.distribution) definition.plan.distribution = *wanted.distribution;
  if (wanted.segment_bytes > 0) definition.plan.segment_bytes = wanted.segment_bytes;
  std::vector<TreeTableEntry> table;  // the node copies it
  if (wanted.tree) {
    if (!wanted.reduction) definition.plan.reduction.kind = TreeKind::kGiven;
    if (!wanted.distribution) definition.plan.distribution.kind = TreeKind::kGiven;
    const auto& [parents, order] = *wanted.tree;
    if (!give_tree(parents, order, ranks, table, definition.plan).empty()) return Admission::kNoPlan;
  }
  return host_.node().create_group(definition, cookie, host_.now());
}

Admission EmbeddedHost::plan(EmbeddedRequest& request, std::uint64_t cookie) {
  const auto group = find_group_info(host_.node(), group_id(request.create->name));
  if (!group) return Admission::kUnknownGroup;
  client::PlanGroup wanted;
  encode(*request.create, wanted);
  Plan plan;
  if (!read_plan(wanted, *group, planner_, plan).empty()) return Admission::kNoPlan;
  return host_.node().replan_group(request.create->name, plan, cookie, host_.now());
}

Result<GroupInfo> EmbeddedHost::open(std::string_view name, std::uint32_t participants) {
  GroupId id = 0;
  Generation generation = 0;
  host_.read_clock();
  const Admission admission = host_.node().open_group(name, participants, id, generation);
  client::Response response;
  describe_admission("group '" + std::string(name) + "'", admission, *response.mutable_status());
  if (admission == Admission::kTaken) {
    Opened& opened = opened_[std::string(name)];
    const auto info = find_group_info(host_.node(), id);
    opened.next = opened.definition == info->definition ? std::max(opened.next, generation) : generation;
    opened.id = id, opened.definition = info->definition;
    fill_group(info, *response.mutable_group());
    response.mutable_group()->set_next_generation(opened.next);
  }
  host_.pump();
  return decode_group(response);
}

Status EmbeddedHost::remove_group(std::string_view name) {
  client::Response response;
  const Admission admission = host_.node().remove_group(name, host_.read_clock());
  describe_admission("group '" + std::string(name) + "'", admission, *response.mutable_status());
  if (admission == Admission::kTaken) opened_.erase(std::string(name));
  host_.pump();
  return decode_status(response);
}

void EmbeddedHost::cancel_all() {
  const Status cancelled{Code::kCancelled, "the node was stopped", {}};
  for (auto& [cookie, request] : std::exchange(pending_, {})) end_pending(*request, to_outcome(cancelled));
  for (const Waiting& w : std::exchange(waiting_, {}))
    if (w.request != nullptr) end(*w.request, cancelled);
  timer_.cancel();
}

EmbeddedRequest* EmbeddedHost::take_pending(std::uint64_t cookie) {
  const auto found = pending_.find(cookie);
  if (found == pending_.end()) return nullptr;
  EmbeddedRequest* request = found->second;
  pending_.erase(found);
  return request;
}

std::vector<std::byte> EmbeddedHost::take_bytes(const PayloadRange& range) {
  if (range.buffer == kNoBuffer) return {};
  const std::span<const std::byte> bytes = host_.bytes_of(range);
  std::vector<std::byte> copy(bytes.begin(), bytes.end());
  host_.node().release_buffer(range.buffer);
  return copy;
}

// A call that begins again in another generation may get a second buffer: the first is nobody's any more.
std::span<std::byte> EmbeddedHost::place_of(std::uint64_t cookie, BufferId buffer, std::size_t bytes) {
  const auto found = pending_.find(cookie);
  if (found == pending_.end() || found->second->call.into.size() != bytes) return {};
  const std::span<std::byte> into = found->second->call.into;
  host_.take_back(std::exchange(found->second->received_in, buffer), into);
  return into;
}

void EmbeddedHost::take_result(const PayloadRange& range, const EmbeddedRequest& request, Outcome& outcome) {
  const std::span<std::byte> into = request.call.into;
  outcome.in_place = !into.empty() && range.buffer != kNoBuffer && range.length == into.size();
  if (!outcome.in_place) return void(outcome.payload = take_bytes(range));
  const std::span<const std::byte> bytes = host_.bytes_of(range);
  if (bytes.data() != into.data()) std::ranges::copy(bytes, into.begin());
  host_.node().release_buffer(range.buffer);
}

// From here on the caller's memory is not ours any more, whatever still comes.
void EmbeddedHost::end_pending(EmbeddedRequest& request, Outcome&& outcome) {
  host_.take_back(request.received_in, request.call.into);
  host_.finish_copy(request.sent_from, request.call.payload);
  end(request, std::move(outcome));
}

void EmbeddedHost::note_if_behind(std::string_view group, Verdict verdict) {
  const auto opened = opened_.find(group);
  if (opened != opened_.end() && went_on_without(host_.node(), opened->second.id, verdict))
    opened->second.is_behind = true;
}

Status EmbeddedHost::failure_of(const OperationCall& call, const Event& event) {
  const std::string_view label = call.options != nullptr ? call.options->label : std::string_view();
  client::Response response;
  describe_call({call.operation, call.group, label, patience_of(call), event.label.view()}, event.done,
                *response.mutable_status());
  name_refused(host_.node(), call.group, event.done, *response.mutable_status());
  return decode_status(response);
}

void EmbeddedHost::on_call_done(const Event& event) {
  const CallDone& done = event.done;
  Outcome outcome;
  EmbeddedRequest* request = take_pending(done.cookie);
  if (request == nullptr) return void(take_bytes(done.payload));
  take_result(done.payload, *request, outcome);
  if (done.verdict != Verdict::kOk) {
    note_if_behind(request->call.group, done.verdict);
    outcome.status = failure_of(request->call, event);
  }
  outcome.generation = done.generation, outcome.lateness = done.lateness, outcome.straggler = done.straggler;
  outcome.arrived_at = done.arrived_at, outcome.activated_at = done.activated_at;
  outcome.first_send_at = done.first_send_at;
  end_pending(*request, std::move(outcome));
}

// What nobody reads would cost its sender credit.
void EmbeddedHost::listen() {
  if (listening_ || !listens_) return;
  listening_ = host_.node().receive_message(std::nullopt, kListening, host_.now()) == Admission::kTaken;
}

bool EmbeddedHost::on_hosts_message(const Event& event) {
  if (event.kind != Event::Kind::kMessage || event.cookie != kListening) return false;
  if (const auto opened = opened_relay(host_, event)) refusals_.add(event.peer, *opened);
  if (event.range.buffer != kNoBuffer) host_.node().release_buffer(event.range.buffer);
  listening_ = false;
  listen();
  return true;
}

void EmbeddedHost::on_event(const Event& event) {
  if (event.kind == Event::Kind::kPeerLost || event.kind == Event::Kind::kPeerRestarted) refusals_.forget(event.peer);
  if (on_hosts_message(event)) return;
  if (event.kind == Event::Kind::kMessage) {
    Outcome outcome;
    outcome.payload = take_bytes(event.range);
    if (EmbeddedRequest* request = take_pending(event.cookie)) end(*request, std::move(outcome), event.peer);
  } else if (event.kind == Event::Kind::kGroupReady) {
    EmbeddedRequest* request = take_pending(event.cookie);
    if (request == nullptr) return;
    client::Response response;
    const bool created = request->kind == EmbeddedRequest::Kind::kCreate;
    (created ? describe_group_ready : describe_plan_ready)(request->create->name, event.done,
                                                           *response.mutable_status());
    end(*request, decode_status(response));
  }
}

// Operations have their deadline in the node; receives and what waits for room have it here.
void EmbeddedHost::arm_timer() {
  Nanoseconds first = kNever;
  for (const auto& [cookie, request] : pending_)
    if (request->kind == EmbeddedRequest::Kind::kReceive) first = std::min(first, request->until);
  for (const Waiting& w : waiting_)
    if (w.request != nullptr) first = std::min(first, w.request->until);
  if (first >= armed_for_) return;
  armed_for_ = first;
  timer_.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(first)));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) on_timer();
  });
}

void EmbeddedHost::on_timer() {
  armed_for_ = kNever;
  const Nanoseconds now = host_.read_clock();
  std::vector<EmbeddedRequest*> late;
  for (auto at = pending_.begin(); at != pending_.end();) {
    const bool over = at->second->kind == EmbeddedRequest::Kind::kReceive && at->second->until <= now;
    if (over && host_.node().forget_receive(at->first)) {
      late.push_back(at->second);
      at = pending_.erase(at);
    } else {
      ++at;
    }
  }
  end_waiting(now, late);
  pass_ended();
  for (EmbeddedRequest* request : late) end(*request, too_late(*request));
  arm_timer();
  host_.pump();
}

}  // namespace fibocast

// The requests of a session, one function each: what the client said becomes a command to the node.
#include <algorithm>
#include <cstring>

#include "collectives/schedule.h"
#include "runtime/daemon/group_messages.h"
#include "runtime/daemon/session.h"
#include "runtime/wire/client_codec.h"
#include "runtime/wire/client_status.h"
#include "runtime/wire/policy_text.h"

namespace fibocast {
namespace {

constexpr Nanoseconds kLongestWait = 365ll * 86'400 * 1'000'000'000;  // a year: no overflow when added to the time

std::string quoted(std::string_view what, std::string_view name) {
  return std::string(what) + " '" + std::string(name) + "'";
}

// "barrier 'gate' (label 'start')"
std::string about_call(Operation operation, const client::Operate& wanted) {
  const std::string text = quoted(operation_name(operation), wanted.group());
  return wanted.label().empty() ? text : text + " (label '" + wanted.label() + "')";
}

}  // namespace

Session::Handled Session::dispatch() {
  using Body = client::Request;
  if (!greeted_ && request_.body_case() != Body::kHello) {
    answer(request_.id(), client::CODE_INVALID, "the first request must be Hello; send it and repeat this one");
    return Handled::kDone;
  }
  if (status_only_ && request_.body_case() != Body::kHello && request_.body_case() != Body::kGetStatus) {
    answer(request_.id(), client::CODE_INVALID,
           "this connection said in its Hello that it asks for the status alone; open another one");
    return Handled::kDone;
  }
  switch (request_.body_case()) {
    case Body::kHello: return hello();
    case Body::kOpenGroup: return open_group();
    case Body::kCreateGroup: return create_group();
    case Body::kPlanGroup: return plan_group();
    case Body::kRemoveGroup: return remove_group();
    case Body::kOperate: return operate();
    case Body::kSend: return send();
    case Body::kReceive: return receive();
    case Body::kGetStatus: return get_status();
    case Body::kGetTrace: return get_trace();
    case Body::kGetClock: return get_clock();
    case Body::kSetModel: return set_model();
    case Body::kReloadKeys: return reload_keys();
    case Body::kDrain: return drain();
    case Body::kCancel: return cancel();
    case Body::BODY_NOT_SET: break;
  }
  answer(request_.id(), client::CODE_INVALID, "this daemon does not know this request; use a client of its version");
  return Handled::kDone;
}

// -- small helpers

Nanoseconds Session::wait_time(Nanoseconds deadline_ns) const {
  return deadline_ns > 0 ? std::min(deadline_ns, kLongestWait) : context_.default_deadline;
}

Session::OpenedGroup* Session::find_opened(std::string_view name) {
  const auto it = std::find_if(groups_.begin(), groups_.end(), [&](const OpenedGroup& g) { return g.name == name; });
  return it == groups_.end() ? nullptr : &*it;
}

PendingRequest& Session::take(PendingRequest::Kind kind) {
  const std::uint64_t stamp = context_.next_stamp++ << kStampShift | std::uint64_t{place_} << kPlaceShift;
  return requests_.take(kind, request_.id(), stamp);
}

Session::Handled Session::refuse(std::string_view about, Admission admission) {
  drop_staged();
  answer(request_.id(), about, admission);
  return Handled::kDone;
}

// The request stays first in line until there is room, its time is up, or at once if it does not want to wait.
Session::Handled Session::wait_for_room(std::string_view about, Nanoseconds deadline_ns, bool try_only) {
  if (try_only) return refuse(about, Admission::kWouldBlock);
  if (!blocked_) {
    blocked_about_ = about;
    block(context_.host.now() + wait_time(deadline_ns));
  }
  return Handled::kBlocked;
}

// Copies the request's payload into a buffer of the node, once.
Admission Session::stage_payload() {
  if (payload_.empty() || staged_.buffer != kNoBuffer) return Admission::kTaken;
  if (!node().fits_budget(payload_.size())) return Admission::kTooLarge;
  const BufferFor use = request_.has_send() ? BufferFor::kMessage : BufferFor::kOperation;
  const auto buffer = node().reserve_buffer(payload_.size(), use);
  if (!buffer) return Admission::kWouldBlock;
  staged_ = {*buffer, 0, payload_.size()};
  std::memcpy(context_.host.bytes_of(staged_).data(), payload_.data(), payload_.size());
  return Admission::kTaken;
}

void Session::drop_staged() {
  if (staged_.buffer != kNoBuffer) node().release_buffer(staged_.buffer);
  staged_ = {};
}

// -- requests

Session::Handled Session::open_group() {
  const client::OpenGroup& wanted = request_.open_group();
  GroupId id = 0;
  Generation generation = 0;
  const Admission admission = node().open_group(wanted.name(), wanted.participants(), id, generation);
  const std::string about = quoted("group", wanted.name());
  if (admission == Admission::kWouldBlock) return wait_for_room(about, 0, false);
  if (admission != Admission::kTaken) return refuse(about, admission);
  const auto info = find_group_info(node(), id);
  OpenedGroup* opened = find_opened(wanted.name());
  if (!opened) opened = &groups_.emplace_back(OpenedGroup{.name = wanted.name()});
  // Opened before: its own numbers go on, unless the group was made anew meanwhile.
  opened->next = opened->definition == info->definition ? std::max(opened->next, generation) : generation;
  opened->id = id, opened->definition = info->definition;
  client::Group& group = *begin_response(request_.id()).mutable_group();
  fill_group(info, group);
  group.set_next_generation(opened->next);
  send_response();
  return Handled::kDone;
}

Session::Handled Session::create_group() {
  const client::CreateGroup& wanted = request_.create_group();
  const std::string about = quoted("group", wanted.name());
  if (is_reserved_name(wanted.name())) return refuse(about, Admission::kReservedName);
  GroupDefinition definition;
  definition.name = wanted.name(), definition.routers = wanted.routers();
  definition.participants = std::max(1u, wanted.participants());
  definition.if_missing = wanted.if_missing();
  std::vector<TreeTableEntry> table;  // the node copies it
  std::string mistake = read_members(wanted, definition.members);
  PolicyChoice choice;
  if (mistake.empty()) mistake = read_policy(wanted.policy(), definition.members.size(), choice);
  definition.policy = choice.policy, definition.quorum = choice.quorum;
  if (mistake.empty()) mistake = read_plan(wanted, context_.planner, definition.plan, table);
  if (!mistake.empty()) {
    answer(request_.id(), client::CODE_INVALID, about + ": " + mistake);
    return Handled::kDone;
  }
  PendingRequest& request = take(PendingRequest::Kind::kCreate);
  const Admission admission = node().create_group(definition, request.cookie, context_.host.now());
  request.group = wanted.name();
  if (admission == Admission::kTaken) return Handled::kDone;
  requests_.free(request);
  return admission == Admission::kWouldBlock ? wait_for_room(about, 0, false) : refuse(about, admission);
}

Session::Handled Session::plan_group() {
  const std::string& name = request_.plan_group().name();
  const std::string about = quoted("group", name);
  const auto group = find_group_info(node(), group_id(name));
  if (!group) return refuse(about, Admission::kUnknownGroup);
  Plan plan;
  if (const std::string mistake = read_plan(request_.plan_group(), *group, context_.planner, plan); !mistake.empty()) {
    answer(request_.id(), client::CODE_INVALID, about + ": " + mistake);
    return Handled::kDone;
  }
  PendingRequest& request = take(PendingRequest::Kind::kPlan);
  request.group = name;
  const Admission admission = node().replan_group(name, plan, request.cookie, context_.host.now());
  if (admission == Admission::kTaken) return Handled::kDone;
  requests_.free(request);
  return admission == Admission::kWouldBlock ? wait_for_room(about, 0, false) : refuse(about, admission);
}

bool Session::on_group_ready(const Event& event) {
  PendingRequest* request = requests_.find(event.cookie);
  if (!request) return false;
  client::Response& response = begin_response(request->id);
  const bool created = request->kind == PendingRequest::Kind::kCreate;
  (created ? describe_group_ready : describe_plan_ready)(request->group, event.done, *response.mutable_status());
  if (event.done.verdict == Verdict::kOk)
    fill_group(find_group_info(node(), group_id(request->group)), *response.mutable_group());
  requests_.free(*request);
  send_response();
  progress();
  return true;
}

Session::Handled Session::remove_group() {
  const std::string& name = request_.remove_group().name();
  const Admission admission = node().remove_group(name, context_.host.now());
  if (admission == Admission::kWouldBlock) return wait_for_room(quoted("group", name), 0, false);
  if (admission == Admission::kTaken) std::erase_if(groups_, [&](const OpenedGroup& g) { return g.name == name; });
  answer(request_.id(), quoted("group", name), admission);
  return Handled::kDone;
}

// A participant numbers its own operations; anybody else joins the generation that is open.
Admission Session::find_group(const client::Operate& operate, Call& call, OpenedGroup*& opened) {
  if (operate.has_generation()) call.generation = operate.generation();
  opened = find_opened(operate.group());
  if (!opened) {
    Generation open = 0;
    return node().open_group(operate.group(), operate.participants(), call.group, open);
  }
  if (opened->is_behind) {
    const Admission admission = node().open_group(operate.group(), 0, opened->id, opened->next);
    if (admission != Admission::kTaken) return admission;
    opened->is_behind = false, opened->definition = find_group_info(node(), opened->id)->definition;
  }
  call.group = opened->id, call.definition = opened->definition;
  if (!call.generation) call.generation = opened->next;
  return Admission::kTaken;
}

namespace {

// Each field fits its type, or the node is not asked. What does not fit together the node refuses.
bool take_operation(const client::Operate& wanted, Call& call) {
  if (wanted.kind() < client::OPERATION_BARRIER || wanted.kind() > client::OPERATION_CONQUER) return false;
  if (wanted.algorithm() > 255 || wanted.tree() > 255 || wanted.parameter() > 65535) return false;
  if (wanted.element_type() > 255 || wanted.combine_operator() > 255) return false;
  call.operation = static_cast<Operation>(wanted.kind());
  call.choice = {static_cast<Algorithm>(wanted.algorithm()), static_cast<TreeKind>(wanted.tree()),
                 static_cast<std::uint16_t>(wanted.parameter())};
  call.type = static_cast<ElementType>(wanted.element_type());
  call.op = static_cast<CombineOperator>(wanted.combine_operator());
  call.total_bytes = wanted.total_bytes();
  return true;
}

}  // namespace

Session::Handled Session::operate() {
  const client::Operate& wanted = request_.operate();
  Call call;
  if (!take_operation(wanted, call)) {
    answer(request_.id(), client::CODE_INVALID, "no such kind of operation; this daemon knows barrier to conquer");
    return Handled::kDone;
  }
  OpenedGroup* opened = nullptr;
  Admission admission = find_group(wanted, call, opened);
  if (admission == Admission::kTaken) admission = stage_payload();
  PendingRequest* request = nullptr;
  if (admission == Admission::kTaken) {
    request = &take(PendingRequest::Kind::kCall);
    request->operation = call.operation;
    request->group = wanted.group();
    request->label = wanted.label();
    request->waited = wait_time(wanted.deadline_ns());
    call.cookie = request->cookie;
    call.root = wanted.root();
    call.deadline = blocked_ ? blocked_until_ : context_.host.now() + request->waited;
    call.not_before = wanted.not_before_ns();
    call.charged = !wanted.uncharged();
    call.payload = staged_;
    call.client = number_;
    admission = node().call(call, context_.host.now());
  }
  if (admission == Admission::kTaken) {
    if (context_.metrics) count_call(*request, call);
    staged_ = {};
    if (opened && !wanted.has_generation()) ++opened->next;
    return Handled::kDone;
  }
  if (request) requests_.free(*request);
  const std::string about = about_call(call.operation, wanted);
  return admission == Admission::kWouldBlock ? wait_for_room(about, wanted.deadline_ns(), false)
                                             : refuse(about, admission);
}

// The calls after it have the next numbers, here as at the others.
void Session::pass_operation() {
  const client::Operate& wanted = request_.operate();
  Call call;
  OpenedGroup* opened = nullptr;
  if (!take_operation(wanted, call) || find_group(wanted, call, opened) != Admission::kTaken) return;
  call.root = wanted.root();
  if (!call.generation) return;  // it would have joined whatever was open
  if (opened && !wanted.has_generation()) ++opened->next;
  owed_passes_.push_back(call);
  ++context_.blocked;
  pass_owed();
}

Session::Handled Session::send() {
  const client::Send& wanted = request_.send();
  Admission admission = wanted.rank() < context_.nodes ? Admission::kTaken : Admission::kBadRank;
  if (wanted.tag() >= Node::kFirstReservedTag) admission = Admission::kReservedTag;
  if (admission == Admission::kTaken) admission = stage_payload();
  if (admission == Admission::kTaken)
    admission = node().send_message(wanted.rank(), wanted.tag(), staged_, context_.host.now());
  if (admission == Admission::kTaken) {
    staged_ = {};
    answer(request_.id(), client::CODE_OK, "");
    return Handled::kDone;
  }
  const std::string about = "message to rank " + std::to_string(wanted.rank());
  return admission == Admission::kWouldBlock ? wait_for_room(about, wanted.deadline_ns(), wanted.try_only())
                                             : refuse(about, admission);
}

Session::Handled Session::receive() {
  const client::Receive& wanted = request_.receive();
  if (wanted.tag() >= Node::kFirstReservedTag) return refuse("receive", Admission::kReservedTag);
  PendingRequest& request = take(PendingRequest::Kind::kReceive);
  const Admission admission = node().receive_message(wanted.tag(), request.cookie, context_.host.now());
  if (admission == Admission::kTaken) {
    request.deadline = blocked_ ? blocked_until_ : context_.host.now() + wait_time(wanted.deadline_ns());
    arm_timer(request.deadline);
    return Handled::kDone;
  }
  requests_.free(request);
  return admission == Admission::kWouldBlock ? wait_for_room("receive", wanted.deadline_ns(), false)
                                             : refuse("receive", admission);
}

Session::Handled Session::get_status() {
  client::NodeStatus& status = *begin_response(request_.id()).mutable_node_status();
  if (context_.fill_status) context_.fill_status(status);
  send_response();
  return Handled::kDone;
}

Session::Handled Session::get_trace() {
  client::Trace& trace = *begin_response(request_.id()).mutable_trace();
  if (context_.fill_trace) context_.fill_trace(request_.get_trace().first(), trace);
  send_response();
  return Handled::kDone;
}

Session::Handled Session::get_clock() {
  client::Clock& clock = *begin_response(request_.id()).mutable_clock();
  clock.set_now_ns(monotonic_now());
  clock.set_id(context_.clock_id);
  send_response();
  return Handled::kDone;
}

Session::Handled Session::cancel() {
  PendingRequest* request = requests_.find_id(request_.cancel().id());
  const bool on_its_way =
      request && request->kind == PendingRequest::Kind::kReceive && !node().forget_receive(request->cookie);
  if (request && !on_its_way) {
    if (request->kind == PendingRequest::Kind::kCall) node().forget_call(request->cookie);
    answer(request->id, client::CODE_CANCELLED, "cancelled by the application");
    requests_.free(*request);
  }
  answer(request_.id(), client::CODE_OK, "");
  return Handled::kDone;
}

}  // namespace fibocast

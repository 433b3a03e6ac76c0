#include "runtime/client/translate.h"

#include <algorithm>
#include <cstring>

namespace fibocast {
namespace {

std::string tree_name(const TreeSpec& tree) {
  switch (tree.kind) {
    case TreeKind::kSequential: return "sequential";
    case TreeKind::kBinomial: return "binomial";
    case TreeKind::kKary: return "kary:" + std::to_string(tree.arity);
    case TreeKind::kFibo: return "fibo";
    case TreeKind::kLambda: return "lambda";
    case TreeKind::kGiven: return "given";  // a phase has no formula then: the daemon says so
  }
  return {};
}

void encode(const TreeSpec& tree, client::TreeSpec& out) {
  out.set_name(tree_name(tree));
  out.set_s(tree.s);
  out.set_r(tree.r);
}

GroupInfo to_group(const client::Group& group) {
  GroupInfo info;
  info.name = group.name();
  info.rank = group.rank();
  info.routers = group.routers();
  info.size = group.size() - info.routers;
  info.participants = group.participants();
  info.next_generation = group.next_generation();
  info.nodes.assign(group.ranks().begin(), group.ranks().end());
  info.policy = group.policy(), info.epoch = group.epoch(), info.live = group.live(), info.outside = group.outside();
  for (const auto& row : group.slowest())
    info.slowest.push_back({row.rank(), row.times(), row.total_ns(), row.largest_ns(), row.unseen_ns()});
  std::stable_sort(info.slowest.begin(), info.slowest.end(),
                   [](const SlowRank& a, const SlowRank& b) { return a.total > b.total; });
  return info;
}

PeerInfo to_peer(const client::PeerStatus& peer) {
  PeerInfo info;
  info.rank = peer.rank();
  info.address = peer.address();
  info.state = peer.state();
  info.frames_sent = peer.frames_sent();
  info.frames_received = peer.frames_received();
  info.resends = peer.resends();
  info.bare_acks = peer.bare_acks();
  info.duplicates = peer.duplicates();
  info.restarts = peer.restarts();
  info.round_trip = peer.round_trip_ns();
  return info;
}

NodeInfo to_node_info(const client::NodeStatus& node) {
  NodeInfo info;
  info.rank = node.rank();
  info.size = node.size();
  info.cluster = node.cluster();
  info.transport = node.transport();
  info.version = node.version();
  info.connected = node.connected();
  for (const auto& peer : node.peers()) info.peers.push_back(to_peer(peer));
  for (const auto& group : node.groups()) info.groups.push_back(to_group(group));
  info.counters.insert(node.counters().begin(), node.counters().end());
  info.pid = node.pid();
  info.payload_bytes_used = node.payload_bytes_used();
  info.clients = node.clients();
  info.security = node.security();
  info.keys.assign(node.keys().begin(), node.keys().end());
  info.metrics = node.metrics();
  info.address = node.address();
  info.model = decode_model(node.model());
  return info;
}

}  // namespace

void encode(const OperationCall& call, client::Operate& out) {
  out.set_group(call.group.data(), call.group.size());
  out.set_kind(static_cast<client::OperationKind>(call.operation));
  out.set_algorithm(static_cast<std::uint32_t>(call.choice.algorithm));
  out.set_tree(static_cast<std::uint32_t>(call.choice.tree));
  out.set_parameter(call.choice.parameter);
  out.set_element_type(static_cast<std::uint32_t>(call.combination.type));
  out.set_combine_operator(static_cast<std::uint32_t>(call.combination.op));
  out.set_total_bytes(call.total_bytes);
  out.set_root(call.root);
  out.set_deadline_ns(call.deadline.count());
  out.set_participants(call.participants);
  const OperationOptions& options = call.options ? *call.options : kPlainOperation;
  out.set_label(options.label);
  out.set_uncharged(!options.charged);
  out.set_not_before_ns(options.not_before);
}

void encode(const SendCall& call, client::Send& out) {
  out.set_rank(call.to);
  out.set_tag(call.tag);
  out.set_deadline_ns(call.deadline.count());
  out.set_try_only(call.try_only);
}

void encode(const GroupRequest& request, client::CreateGroup& out) {
  out.Clear();  // trees of the request before
  out.set_name(request.name);
  out.mutable_ranks()->Assign(request.nodes.begin(), request.nodes.end());
  out.set_participants(request.participants);
  out.set_routers(request.routers);
  out.set_policy(request.policy);
  out.set_if_missing(request.if_missing);
  if (request.reduction) encode(*request.reduction, *out.mutable_reduction());
  if (request.distribution) encode(*request.distribution, *out.mutable_distribution());
  out.set_segment_bytes(request.segment_bytes);
  if (!request.tree) return;
  client::GivenTree& tree = *out.mutable_tree();
  tree.mutable_parents()->Assign(request.tree->parents.begin(), request.tree->parents.end());
  tree.mutable_order()->Assign(request.tree->order.begin(), request.tree->order.end());
}

void encode(const GroupRequest& request, client::PlanGroup& out) {
  out.Clear();
  out.set_name(request.name);
  if (request.reduction) encode(*request.reduction, *out.mutable_reduction());
  if (request.distribution) encode(*request.distribution, *out.mutable_distribution());
  out.set_segment_bytes(request.segment_bytes);
}

void encode(const NodeModel& model, client::SetModel& out) {
  out.set_s_ns(model.s), out.set_l_ns(model.l), out.set_o_ns(model.o);
  out.set_send_per_byte_ns(model.send_per_byte), out.set_receive_per_byte_ns(model.receive_per_byte);
  out.set_processors(model.processors);
  out.set_wake_ns(model.wake);
  out.set_measured(model.measured);
}

NodeModel decode_model(const client::SetModel& model) {
  return {.s = model.s_ns(),
          .l = model.l_ns(),
          .o = model.o_ns(),
          .send_per_byte = model.send_per_byte_ns(),
          .receive_per_byte = model.receive_per_byte_ns(),
          .processors = model.processors(),
          .wake = model.wake_ns(),
          .measured = model.measured()};
}

Status decode_status(const client::Response& response) {
  const client::Status& status = response.status();
  return {static_cast<Code>(status.code()), status.sentence(), {status.ranks().begin(), status.ranks().end()}};
}

Outcome decode_outcome(const client::Response& response, std::span<const std::byte> payload,
                       std::span<std::byte> into) {
  const client::Outcome& from = response.outcome();
  Outcome outcome;
  outcome.status = decode_status(response);
  outcome.generation = from.generation();
  outcome.in_place = !into.empty() && into.size() == payload.size();
  if (outcome.in_place)
    std::ranges::copy(payload, into.begin());
  else
    outcome.payload.assign(payload.begin(), payload.end());
  outcome.arrived_at = from.arrived_at_ns();
  outcome.activated_at = from.activated_at_ns();
  outcome.first_send_at = from.first_send_at_ns();
  outcome.lateness = from.lateness_ns();
  if (from.has_straggler()) outcome.straggler = {from.straggler(), from.straggler_late_ns()};
  return outcome;
}

Received decode_received(const client::Response& response, std::span<const std::byte> payload) {
  return {decode_status(response), response.message().rank(), {payload.begin(), payload.end()}};
}

Result<GroupInfo> decode_group(const client::Response& response) {
  if (response.status().code() != client::CODE_OK) return decode_status(response);
  return to_group(response.group());
}

Result<NodeInfo> decode_node_info(const client::Response& response) {
  if (response.status().code() != client::CODE_OK) return decode_status(response);
  return to_node_info(response.node_status());
}

std::uint64_t append_trace(const client::Trace& part, NodeTrace& trace) {
  trace.rank = part.rank();
  const client::Machine& m = part.machine();
  trace.machine = {m.emulated(),
                   m.s_ns(),
                   m.l_ns(),
                   m.o_ns(),
                   m.send_per_byte_ns(),
                   m.receive_per_byte_ns(),
                   m.independent_ports() ? NicPorts::kIndependent : NicPorts::kShared};
  const std::size_t count = part.events().size() / sizeof(FlightEvent), before = trace.events.size();
  trace.events.resize(before + count);
  if (count > 0) std::memcpy(trace.events.data() + before, part.events().data(), count * sizeof(FlightEvent));
  return count;
}

}  // namespace fibocast

#include "firmware_sim/swarm_messages.h"

#include "collectives/check.h"

namespace fibocast {
namespace {

// Far away from the keys of multicasts.
std::uint64_t message_key(std::size_t flow, std::size_t number) { return 1ull << 63 | flow << 32 | number; }

}  // namespace

SwarmMessages::SwarmMessages(SwarmRun& run) : run_(run), next_(run.scenario().flows.size()) {
  const Scenario& scenario = run.scenario();
  for (std::size_t i = 0; i < scenario.flows.size(); ++i) {
    const ScenarioFlow& flow = scenario.flows[i];
    expected_[{flow.to, flow.tag}] += flow.sizes.size();
    run_.application_begins();
    run_.cluster().at(scenario.start_at[flow.from], [this, i] { send(i, 0); });
  }
  for (const auto& [where, count] : expected_) {
    run_.application_begins();
    run_.cluster().at(scenario.start_at[where.first],
                      [this, node = where.first, tag = where.second] { receive(node, tag); });
  }
}

const SwarmMessages::Message& SwarmMessages::next_of(std::size_t flow, std::size_t number) {
  std::optional<Message>& next = next_[flow];
  if (!next) {
    next.emplace(pattern(message_key(flow, number), run_.scenario().flows[flow].sizes[number]));
    next->fingerprint = fingerprint(next->bytes);
  }
  return *next;
}

void SwarmMessages::send(std::size_t flow_index, std::size_t number) {
  const ScenarioFlow& flow = run_.scenario().flows[flow_index];
  if (number == flow.sizes.size()) return run_.application_ends();
  const Message& message = next_of(flow_index, number);
  Record r;
  r.kind = Record::Kind::kSent;
  r.at = run_.cluster().now();
  r.node = flow.from;
  r.peer = flow.to;
  r.tag = flow.tag;
  r.payload = message.fingerprint;
  std::vector<Record>& records = run_.history().records;
  const std::size_t index = records.size();
  records.push_back(r);
  const Admission admission = run_.cluster().send(flow.from, flow.to, flow.tag, message.bytes);
  if (admission == Admission::kTaken) {
    next_[flow_index].reset();
    return run_.after(run_.pause(), [this, flow_index, number] { send(flow_index, number + 1); });
  }
  check(admission == Admission::kWouldBlock);
  records.erase(records.begin() + static_cast<std::ptrdiff_t>(index));
  run_.after(run_.retry_pause(), [this, flow_index, number] { send(flow_index, number); });
}

void SwarmMessages::receive(NodeId node, std::uint64_t tag) {
  if (expected_[{node, tag}] == 0) return run_.application_ends();
  const Asked asked = run_.cluster().receive(node, tag);
  if (asked.admission == Admission::kTaken) {
    run_.when_answered(asked.cookie, [this](const Answer& answer) { on_message(answer); });
    if (run_.lives() != nullptr && run_.lives()->stops_waiting()) stop_waiting_soon(node, tag, asked.cookie);
    return;
  }
  check(asked.admission == Admission::kWouldBlock);
  run_.after(run_.retry_pause(), [this, node, tag] { receive(node, tag); });
}

// The message that it does not get so is for who asks next.
void SwarmMessages::stop_waiting_soon(NodeId node, std::uint64_t tag, std::uint64_t cookie) {
  run_.after(run_.lives()->soon(), [this, node, tag, cookie] {
    if (!run_.cluster().node(node).running()) return;
    if (!run_.cluster().node(node).forget_receive(cookie)) return;  // it is here
    run_.forget_answer(cookie);
    run_.after(run_.pause(), [this, node, tag] { receive(node, tag); });
  });
}

void SwarmMessages::on_message(const Answer& answer) {
  const NodeId node = answer.node;
  const std::uint64_t tag = answer.event.tag;
  Record r;
  r.kind = Record::Kind::kReceived;
  r.at = answer.at;
  r.node = node;
  r.peer = answer.event.peer;
  r.tag = tag;
  r.payload = fingerprint(answer.payload);
  run_.history().records.push_back(r);
  --expected_[{node, tag}];
  run_.after(run_.pause(), [this, node, tag, range = answer.event.range] {
    run_.cluster().node(node).release(range);
    receive(node, tag);
  });
}

}  // namespace fibocast

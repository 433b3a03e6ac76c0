#include "firmware_sim/swarm_participant.h"

#include <utility>

#include "collectives/check.h"

namespace fibocast {
namespace {

constexpr Nanoseconds kMillisecond = 1'000'000;

std::uint64_t payload_key(std::uint32_t group, Generation generation) { return (group + 1ull) << 32 | generation; }

// A member that is not up yet refuses by its silence: then the group is created once more.
void create_group(SwarmRun& run, NodeId creator, const GroupDefinition& definition, std::function<void()> then) {
  const auto again = [&run, creator, definition, then] {
    run.after(200 * kMillisecond, [&run, creator, definition, then] { create_group(run, creator, definition, then); });
  };
  const Asked asked = run.cluster().create(creator, definition);
  if (asked.admission != Admission::kTaken) {
    check(asked.admission == Admission::kExists || asked.admission == Admission::kWouldBlock);  // not removed yet
    return again();
  }
  run.when_answered(asked.cookie, [then, again](const Answer& answer) {
    if (answer.event.done.verdict != Verdict::kOk) return again();
    then();
  });
}

}  // namespace

SwarmParticipant::SwarmParticipant(SwarmRun& run, std::uint32_t group, NodeId node, std::uint32_t index)
    : run_(run), group_(group), node_(node), index_(index) {
  run_.application_begins();
}

void SwarmParticipant::begin() {
  const Membership m = run_.cluster().open(node_, group().name, group().participants);
  check(m.admission == Admission::kTaken);
  id_ = m.group;
  generation_ = m.generation;
  call_next();
}

void SwarmParticipant::call_next() {
  if (generation_ >= group().operations.size()) return run_.application_ends();
  const bool rushed = operation().rushed;
  patience_ = rushed ? run_.random().between(kMillisecond, 100 * kMillisecond) : kPatience;
  const Nanoseconds late = rushed && run_.random().chance(0.1) ? run_.random().between(0, 500 * kMillisecond) : 0;
  run_.after(run_.pause() + late, [this] { call(); });
}

bool SwarmParticipant::is_sender() const {
  return operation().operation == Operation::kMulticast && group().members[operation().root] == node_;
}

Asked SwarmParticipant::ask(Nanoseconds deadline) {
  const ScenarioOperation& o = operation();
  if (o.operation == Operation::kBarrier) return run_.cluster().barrier(node_, id_, generation_, deadline);
  if (!is_sender() || index_ > 0) return run_.cluster().receive_multicast(node_, id_, o.root, generation_, deadline);
  return run_.cluster().send_multicast(node_, id_, o.root, generation_, deadline,
                                       pattern(payload_key(group_, generation_), o.bytes));
}

// The arrival is written down before the call: its answer, and those of others, may come while it is being made.
void SwarmParticipant::call() {
  Record arrived = record(Record::Kind::kArrived);
  arrived.deadline = run_.cluster().now() + patience_;
  if (is_sender()) arrived.payload = fingerprint(pattern(payload_key(group_, generation_), operation().bytes));
  std::vector<Record>& records = run_.history().records;
  const std::size_t index = records.size();
  records.push_back(arrived);
  const Asked asked = ask(arrived.deadline);
  if (asked.admission == Admission::kTaken)
    return run_.when_answered(asked.cookie, [this](const Answer& answer) { on_answer(answer); });
  check(asked.admission == Admission::kWouldBlock);
  records.erase(records.begin() + static_cast<std::ptrdiff_t>(index));
  run_.after(run_.retry_pause(), [this] { call(); });
}

void SwarmParticipant::on_answer(const Answer& answer) {
  const CallDone& done = answer.event.done;
  Record r = record(Record::Kind::kDone);
  r.generation = done.generation;
  r.verdict = done.verdict;
  for (std::uint32_t i = 0; i < done.ranks.size(); ++i) r.missing.push_back(done.ranks.at(i));
  r.payload = fingerprint(answer.payload);
  run_.history().records.push_back(r);
  run_.after(run_.pause(), [this, payload = done.payload] {
    run_.cluster().node(node_).release(payload);
    ++generation_;
    call_next();
  });
}

Record SwarmParticipant::record(Record::Kind kind) const {
  Record r;
  r.kind = kind;
  r.at = run_.cluster().now();
  r.node = node_;
  r.group = group_;
  r.participant = index_;
  r.generation = generation_;
  r.operation = operation().operation;
  r.root = operation().root;
  return r;
}

void start_group(SwarmRun& run, std::uint32_t group, const GroupDefinition& definition,
                 std::vector<std::unique_ptr<SwarmParticipant>>& participants) {
  const ScenarioGroup& g = run.scenario().groups[group];
  std::vector<SwarmParticipant*> mine;
  for (NodeId node : g.members) {
    for (std::uint32_t i = 0; i < g.participants; ++i) {
      participants.push_back(std::make_unique<SwarmParticipant>(run, group, node, i));
      mine.push_back(participants.back().get());
    }
  }
  // Applications connect to their daemon once it runs.
  auto begin_all = [&run, mine, &g] {
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const Nanoseconds start = run.scenario().start_at[g.members[i / g.participants]];
      run.cluster().at(start, [p = mine[i]] { p->begin(); });
    }
  };
  if (g.kind != ScenarioGroup::Kind::kCreated) return begin_all();
  const NodeId creator = g.members.front();
  run.cluster().at(run.scenario().start_at[creator],
                   [&run, creator, definition, begin_all] { create_group(run, creator, definition, begin_all); });
}

}  // namespace fibocast

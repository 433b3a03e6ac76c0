#include "firmware_sim/swarm_participant.h"

#include <algorithm>
#include <utility>

#include "collectives/check.h"
#include "firmware_sim/swarm_data.h"

namespace fibocast {
namespace {

constexpr int kAttemptsToOpen = 25;
constexpr int kAttemptsToJoin = 100;

std::uint64_t payload_key(std::uint32_t group, Generation generation) { return (group + 1ull) << 32 | generation; }

}  // namespace

SwarmParticipant::SwarmParticipant(SwarmRun& run, std::uint32_t group, NodeId node, std::uint32_t index)
    : run_(run), group_(group), node_(node), index_(index) {
  run_.application_begins();
}

void SwarmParticipant::begin() {
  begun_ = true;
  if (!run_.cluster().node(node_).started()) return end();  // crashed before: on_restart()
  if (lives_ > 0 || (run_.scenario().comes_and_goes && !knows_group())) return open_again(kAttemptsToOpen);
  const Membership m = run_.cluster().open(node_, group().name, group().participants);
  if (run_.scenario().comes_and_goes && !is_ours(m)) return open_again(kAttemptsToOpen);
  check(m.admission == Admission::kTaken);
  enter(m);
}

void SwarmParticipant::enter(const Membership& m) {
  id_ = m.group;
  generation_ = m.generation;
  if (run_.scenario().comes_and_goes) definition_ = find_group(run_.cluster().node(node_).node(), id_)->definition;
  call_next();
}

// The node hears of a created group from the others, unless nobody is left who knows it: then the name stands for
// another group, of all nodes.
void SwarmParticipant::open_again(int attempts) {
  if (attempts == 0) return end();
  later(200 * kMillisecond, [this, attempts] {
    if (!knows_group()) return open_again(attempts - 1);
    const Membership m = run_.cluster().open(node_, group().name, group().participants);
    if (run_.scenario().comes_and_goes && !is_ours(m)) return open_again(attempts - 1);
    check(m.admission == Admission::kTaken);
    enter(m);
  });
}

bool SwarmParticipant::knows_group() const {
  if (group().kind != ScenarioGroup::Kind::kCreated) return true;
  const auto info = find_group(run_.cluster().node(node_).node(), group_id(group().name));
  return info && (!run_.scenario().comes_and_goes || info->creation == run_.history().groups[group_].creation);
}

// Of groups of all nodes there are two where the cluster has grown.
bool SwarmParticipant::is_ours(const Membership& m) const {
  if (m.admission == Admission::kExists) return false;
  const auto info = find_group(run_.cluster().node(node_).node(), m.group);
  return info && info->members.size() == group().members.size();
}

// It was numbered by what its node knew before it joined the others again.
bool SwarmParticipant::is_ahead() const {
  const auto info = find_group(run_.cluster().node(node_).node(), id_);
  return info && info->next_generation <= generation_;
}

// Somebody removed it, or made another one in its place.
void SwarmParticipant::lose_group() {
  run_.history().vanishings.push_back({run_.cluster().now(), node_, group_});
  end();
}

void SwarmParticipant::end() {
  ended_ = true;
  run_.application_ends();
}

void SwarmParticipant::on_crash() {
  ++lives_;
  run_.forget_answer(cookie_);
  if (begun_ && !ended_) end();
}

void SwarmParticipant::on_restart() {
  if (!begun_ || !ended_) return;
  run_.application_begins();
  ended_ = false;
  open_again(kAttemptsToOpen);
}

void SwarmParticipant::later(Nanoseconds delay, std::function<void()> action) {
  run_.after(delay, [this, life = lives_, action = std::move(action)] {
    if (life != lives_) return;
    if (!run_.cluster().node(node_).running()) return later(run_.retry_pause(), action);
    action();
  });
}

void SwarmParticipant::call_next() {
  if (generation_ >= group().operations.size()) return end();
  const bool rushed = operation().rushed;
  patience_ = rushed ? run_.random().between(kMillisecond, 100 * kMillisecond) : patience();
  const Nanoseconds late = rushed && run_.random().chance(0.1) ? run_.random().between(0, 500 * kMillisecond) : 0;
  give_up_at_ = run_.cluster().now() + late + patience_;
  later(run_.pause() + late, [this] { call(); });
}

bool SwarmParticipant::is_sender() const {
  return operation().operation == Operation::kMulticast && group().members[operation().root] == node_;
}

bool SwarmParticipant::moves_data() const {
  return operation().operation != Operation::kBarrier && operation().operation != Operation::kMulticast;
}

Rank SwarmParticipant::rank() const {
  return static_cast<Rank>(std::ranges::find(group().members, node_) - group().members.begin());
}

Asked SwarmParticipant::ask_for_data(Nanoseconds deadline) {
  const ScenarioOperation& o = operation();
  const OperationShape shape = shape_of(group(), o);
  Call c;
  c.group = id_, c.definition = definition_, c.generation = generation_, c.deadline = deadline;
  c.operation = o.operation, c.root = o.root, c.choice = o.choice, c.type = shape.type, c.op = shape.op;
  if (o.operation == Operation::kConquer) c.total_bytes = o.bytes;
  const std::vector<std::byte> bytes = brought(group(), o, payload_key(group_, generation_), rank());
  if (!bytes.empty()) {
    const std::optional<PayloadRange> payload = run_.cluster().node(node_).put_payload(bytes);
    if (!payload) return {};
    c.payload = *payload;
  }
  const Asked asked = run_.cluster().call(node_, c);
  if (asked.admission != Admission::kTaken) run_.cluster().node(node_).release(c.payload);
  return asked;
}

Asked SwarmParticipant::ask(Nanoseconds deadline) {
  const ScenarioOperation& o = operation();
  if (moves_data()) return ask_for_data(deadline);
  Call c;
  c.group = id_, c.definition = definition_, c.generation = generation_, c.deadline = deadline;
  c.operation = o.operation, c.root = o.root;
  if (!is_sender() || index_ > 0) return run_.cluster().call(node_, c);
  return run_.cluster().call_with(node_, c, pattern(payload_key(group_, generation_), o.bytes));
}

// The arrival is written down before the call: its answer, and those of others, may come while it is being made.
void SwarmParticipant::call() {
  Record arrived = record(Record::Kind::kArrived);
  arrived.deadline = run_.cluster().now() + patience_;
  const std::uint64_t key = payload_key(group_, generation_);
  if (is_sender()) arrived.payload = fingerprint(pattern(key, operation().bytes));
  if (moves_data()) arrived.expected = fingerprint(expected(group(), operation(), key, rank()));
  std::vector<Record>& records = run_.history().records;
  const std::size_t index = records.size();
  records.push_back(arrived);
  const Asked asked = ask(arrived.deadline);
  if (asked.admission == Admission::kTaken) {
    cookie_ = asked.cookie;
    return run_.when_answered(asked.cookie, [this](const Answer& answer) { on_answer(answer); });
  }
  records.erase(records.begin() + static_cast<std::ptrdiff_t>(index));
  if (asked.admission == Admission::kUnknownGroup && run_.scenario().comes_and_goes) return lose_group();
  check(asked.admission == Admission::kWouldBlock);
  if (run_.cluster().now() > give_up_at_) return pass();  // as its daemon would at the deadline
  later(run_.retry_pause(), [this] { call(); });
}

// Where another member's application went to another group of this name nobody moves the window any more.
bool SwarmParticipant::is_hopeless() const {
  return run_.cluster().now() > give_up_at_ + run_.scenario().patience + run_.scenario().grace;
}

void SwarmParticipant::pass() {
  Call c;
  c.group = id_, c.definition = definition_, c.generation = generation_;
  c.operation = operation().operation, c.root = operation().root;
  if (run_.cluster().node(node_).pass(c) == Admission::kWouldBlock) {
    if (run_.scenario().comes_and_goes && is_hopeless()) return end();
    return later(run_.retry_pause(), [this] { pass(); });
  }
  ++generation_;
  call_next();
}

void SwarmParticipant::on_answer(const Answer& answer) {
  const CallDone& done = answer.event.done;
  Record r = record(Record::Kind::kDone);
  r.generation = done.generation;
  r.verdict = done.verdict;
  for (std::uint32_t i = 0; i < done.ranks.size(); ++i) r.missing.push_back(done.ranks.at(i));
  r.straggler = done.straggler.rank;
  r.payload = r.result = fingerprint(answer.payload);
  run_.history().records.push_back(r);
  const bool goes_on = group().policy != GroupPolicy::kAll;
  const bool outside = done.verdict == Verdict::kPartitioned;
  times_outside_ = outside ? times_outside_ + 1 : 0;
  // Where the others are by now; unless there will never be a majority again.
  if (outside) return times_outside_ < kAttemptsToJoin ? open_again(kAttemptsToOpen) : end();
  if (goes_on && done.verdict == Verdict::kStale && is_ahead()) return open_again(kAttemptsToOpen);
  later(run_.pause(), [this, payload = done.payload] {
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

}  // namespace fibocast

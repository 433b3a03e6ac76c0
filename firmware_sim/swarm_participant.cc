#include "firmware_sim/swarm_participant.h"

#include <algorithm>
#include <utility>

#include "collectives/check.h"
#include "firmware_sim/swarm_data.h"

namespace fibocast {
namespace {

constexpr int kAttemptsToOpen = 25;
constexpr int kAttemptsToJoin = 100;
constexpr Nanoseconds kLongWait = 40'000 * kMillisecond;  // more than a node waits for a group to be created
constexpr std::size_t kCallsOfAShell = 3;                 // for each operation of its list, at most

}  // namespace

SwarmParticipant::SwarmParticipant(SwarmRun& run, std::uint32_t group, NodeId node, std::uint32_t index)
    : run_(run), group_(group), node_(node), index_(index) {
  run_.application_begins();
}

// Who joins what is open may find more of it than the list has.
const ScenarioOperation& SwarmParticipant::operation() const {
  return group().operations[std::min<std::size_t>(generation_, group().operations.size() - 1)];
}

// Shells do not know which generation they will join: they bring the same to each.
std::uint64_t SwarmParticipant::payload_key() const {
  return (group_ + 1ull) << 32 | (group().numbered ? generation_ : 0);
}

void SwarmParticipant::begin() {
  begun_ = true;
  if (run_.lives() != nullptr) client_ = run_.lives()->next_client(node_);
  if (!run_.cluster().node(node_).started()) return end();  // crashed before: on_restart()
  if (lives_ > 0) return open_again(kAttemptsToOpen);
  const std::optional<Membership> m = open();
  m ? enter(*m) : open_again(kAttemptsToOpen);
}

void SwarmParticipant::enter(const Membership& m) {
  id_ = m.group;
  // Of several it was taken for one that had died, perhaps: what it leaves out nobody comes for.
  const bool has_place_of_another = run_.lives() != nullptr && group().participants > 1 && m.generation > generation_;
  run_.history().somebody_stayed_away |= has_place_of_another;
  generation_ = m.generation;
  if (run_.scenario().comes_and_goes) definition_ = find_group(run_.cluster().node(node_).node(), id_)->definition;
  call_next();
}

std::optional<Membership> SwarmParticipant::open() {
  if (!knows_group()) return {};
  const Membership m = run_.cluster().open(node_, group().name, group().participants);
  if (run_.scenario().comes_and_goes && !is_ours(m)) return {};
  check(m.admission == Admission::kTaken);
  return m;
}

// The node hears of a created group from the others, unless nobody is left who knows it: then the name stands for
// another group, of all nodes.
void SwarmParticipant::open_again(int attempts) {
  if (attempts == 0) {
    run_.history().somebody_stayed_away |= run_.lives() != nullptr;  // the name stands for another group by now
    return end();
  }
  later(200 * kMillisecond, [this, attempts] {
    const std::optional<Membership> m = open();
    m ? enter(*m) : open_again(attempts - 1);
  });
}

bool SwarmParticipant::knows_group() const {
  if (group().kind != ScenarioGroup::Kind::kCreated) return true;
  const auto info = find_group(run_.cluster().node(node_).node(), group_id(group().name));
  return info && (!run_.scenario().comes_and_goes || info->creation == run_.history().groups[group_].creation);
}

// Of groups of all nodes there are two where the cluster has grown.
bool SwarmParticipant::is_ours(const Membership& m) const {
  if (m.admission == Admission::kOtherParticipants) return false;
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
  waits_ = false;
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
  const std::size_t operations = group().operations.size();
  const bool tired = !group().numbered && calls_ >= kCallsOfAShell * operations;
  run_.history().somebody_stayed_away |= tired;
  if (generation_ >= operations || tired) return end();
  // Of several participants at a node nobody but itself knows where one that ended between two calls had been.
  if (run_.lives() != nullptr && group().participants == 1 && run_.lives()->restarts()) return restart();
  const bool rushed = operation().rushed;
  patience_ = rushed ? run_.random().between(kMillisecond, 100 * kMillisecond) : patience();
  if (run_.history().somebody_stayed_away) patience_ = std::min(patience_, kPatienceForTheAbsent);
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

// Nothing: it has nothing to bring.
std::vector<std::byte> SwarmParticipant::brings() const {
  if (moves_data()) return brought(group(), operation(), payload_key(), rank());
  const bool sends = is_sender() && index_ == 0;
  return sends ? pattern(payload_key(), operation().bytes) : std::vector<std::byte>();
}

Asked SwarmParticipant::ask(const Record& arrived) {
  const ScenarioOperation& o = operation();
  Call c;
  c.group = id_, c.definition = definition_, c.client = client_;
  c.deadline = arrived.deadline, c.not_before = arrived.not_before;
  if (group().numbered) c.generation = generation_;
  c.operation = o.operation, c.root = o.root;
  if (moves_data()) {
    const OperationShape shape = shape_of(group(), o);
    c.choice = o.choice, c.type = shape.type, c.op = shape.op;
    if (o.operation == Operation::kConquer) c.total_bytes = o.bytes;
  }
  const std::vector<std::byte> bytes = brings();
  if (!bytes.empty() || (is_sender() && index_ == 0)) {
    const std::optional<PayloadRange> payload = run_.cluster().node(node_).put_payload(bytes);
    if (!payload) return {};
    c.payload = *payload;
  }
  const Asked asked = run_.cluster().call(node_, c);
  if (asked.admission != Admission::kTaken) run_.cluster().node(node_).release(c.payload);
  return asked;
}

// The arrival is written down before the call: its answer, and those of others, may come while it is being made.
void SwarmParticipant::call() {
  const Fate fate = run_.lives() != nullptr ? run_.lives()->fate_of_call() : Fate{};
  Record arrived = record(Record::Kind::kArrived);
  if (!group().numbered) arrived.generation = kUnknownGeneration;
  arrived.deadline = run_.cluster().now() + patience_;
  if (fate.comes_later > 0) arrived.not_before = run_.cluster().now() + std::min(fate.comes_later, patience_ / 2);
  if (is_sender()) arrived.payload = fingerprint(pattern(payload_key(), operation().bytes));
  if (moves_data()) arrived.expected = fingerprint(expected(group(), operation(), payload_key(), rank()));
  std::vector<Record>& records = run_.history().records;
  arrival_ = records.size();
  records.push_back(arrived);
  const Asked asked = ask(arrived);
  if (asked.admission != Admission::kTaken) {
    records.erase(records.begin() + static_cast<std::ptrdiff_t>(arrival_));
    if (asked.admission == Admission::kUnknownGroup && run_.scenario().comes_and_goes) return lose_group();
    check(asked.admission == Admission::kWouldBlock);
    return on_no_room();
  }
  ++calls_;
  cookie_ = asked.cookie;
  waits_ = true;
  run_.when_answered(asked.cookie, [this](const Answer& answer) { on_answer(answer); });
  meet(fate);
}

// A shell that found none just ends; the next one may find some.
void SwarmParticipant::on_no_room() {
  const bool gives_up = run_.cluster().now() > give_up_at_;
  if (gives_up && group().numbered) return pass();  // as its daemon would at the deadline
  calls_ += gives_up;
  later(run_.retry_pause(), [this, gives_up] { gives_up ? call_next() : call(); });
}

// There will never be room again while the window waits for who stays away; and where another member's application went
// to another group of this name nobody moves the window any more.
bool SwarmParticipant::is_hopeless() const {
  const Nanoseconds waits = run_.cluster().now() - give_up_at_;
  const bool went = run_.scenario().comes_and_goes && waits > run_.scenario().patience + run_.scenario().grace;
  return went || (run_.history().somebody_stayed_away && waits > kLongWait);
}

void SwarmParticipant::pass() {
  Call c;
  c.group = id_, c.definition = definition_, c.generation = generation_;
  c.operation = operation().operation, c.root = operation().root;
  if (run_.cluster().node(node_).pass(c) == Admission::kWouldBlock)
    return is_hopeless() ? end() : later(run_.retry_pause(), [this] { pass(); });
  ++generation_;
  call_next();
}

void SwarmParticipant::meet(const Fate& fate) {
  if (!waits_ || fate.kind == Fate::Kind::kWaits) return;
  later(fate.after, [this, fate, cookie = cookie_] {
    if (!waits_ || cookie != cookie_) return;
    fate.kind == Fate::Kind::kDies ? die(fate.away) : give_up();
  });
}

void SwarmParticipant::drop_call(Record::Kind why, const std::string& label) {
  Record r = run_.history().records[arrival_];
  r.kind = why;
  r.at = run_.cluster().now();
  r.label = label;
  run_.history().records.push_back(r);
  run_.forget_answer(cookie_);
  waits_ = false;
  // It may have been the last one: then a further one hands out what nobody comes for, or is there for nobody.
  const bool leaves = why == Record::Kind::kGaveUp || is_push(r.operation);
  run_.history().somebody_stayed_away |= !group().numbered && leaves;
}

void SwarmParticipant::die(Nanoseconds away) {
  ++lives_;
  const std::string label = "call " + std::to_string(cookie_);
  drop_call(Record::Kind::kDied, label);
  run_.history().somebody_stayed_away |= away == kNever;
  run_.cluster().node(node_).abandon_call(cookie_, label, run_.lives()->newest_client(node_));
  if (away == kNever) return end();
  later(away, [this] { come_back(); });
}

// Where several participants share a node, one that comes back knows by itself where it was.
void SwarmParticipant::come_back() {
  client_ = run_.lives()->next_client(node_);
  const std::optional<Membership> m = open();
  if (!m) return open_again(kAttemptsToOpen);
  if (group().participants > 1) return call_next();
  run_.history().somebody_stayed_away |= m->generation > generation_ + 1;  // for what was handed out in between
  enter(*m);
}

void SwarmParticipant::restart() {
  run_.history().records.push_back(record(Record::Kind::kEnded));
  later(run_.lives()->soon(), [this] { come_back(); });
}

void SwarmParticipant::give_up() {
  drop_call(Record::Kind::kGaveUp, {});
  run_.cluster().node(node_).forget_call(cookie_);
  later(run_.pause(), [this] {
    generation_ += group().numbered;
    call_next();
  });
}

// A shell is told which generation it was; unless that had no place for it, and it counts nowhere.
void SwarmParticipant::count(const CallDone& done) {
  if (group().numbered)
    ++generation_;
  else if (done.verdict != Verdict::kCancelled && (done.verdict != Verdict::kDeadlineExceeded || !done.ranks.empty()))
    generation_ = done.generation + 1;
}

void SwarmParticipant::on_answer(const Answer& answer) {
  const CallDone& done = answer.event.done;
  waits_ = false;
  // Its group was removed before it had joined a generation, perhaps.
  const bool nowhere = !group().numbered && done.verdict == Verdict::kCancelled;
  const Generation generation = nowhere ? kUnknownGeneration : done.generation;
  if (!group().numbered && !nowhere) {
    run_.history().records[arrival_].generation = generation;
    run_.history().somebody_stayed_away |= generation >= group().operations.size();  // one more than all have
  }
  Record r = record(Record::Kind::kDone);
  r.generation = generation;
  r.verdict = done.verdict;
  for (std::uint32_t i = 0; i < done.ranks.size(); ++i) r.missing.push_back(done.ranks.at(i));
  r.straggler = done.straggler.rank;
  r.label = answer.event.label.view();
  r.payload = r.result = fingerprint(answer.payload);
  run_.history().records.push_back(r);
  const bool goes_on = group().policy != GroupPolicy::kAll;
  const bool outside = done.verdict == Verdict::kPartitioned;
  times_outside_ = outside ? times_outside_ + 1 : 0;
  // Where the others are by now; unless there will never be a majority again.
  if (outside) return times_outside_ < kAttemptsToJoin ? open_again(kAttemptsToOpen) : end();
  if (goes_on && done.verdict == Verdict::kStale && is_ahead()) return open_again(kAttemptsToOpen);
  later(run_.pause(), [this, done] {
    run_.cluster().node(node_).release(done.payload);
    count(done);
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

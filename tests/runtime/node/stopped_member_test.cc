// A member that is stopped while a group does nothing but multicast: the others are told that it is lost, each of them,
// however late it calls, and within the suspicion time, whatever they were waiting for. When it goes on, nobody waits
// for what was on its way to it, or through it.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "firmware_sim/random.h"
#include "tests/runtime/node/team.h"

namespace fibocast {
namespace {

constexpr NodeId kTeam = 16;
constexpr Nanoseconds kSuspicion = 500 * kMillisecond;
constexpr Nanoseconds kMessageTime = 200'000;  // of a message, at most
constexpr Nanoseconds kPatience = 60 * kSecond;
constexpr std::uint64_t kSeeds = FIBOCAST_SANITIZED ? 10 : 100;

ClusterSettings settings_of(std::uint64_t seed) {
  ClusterSettings settings = cluster_of(kTeam);
  settings.node.suspicion = kSuspicion;
  settings.network = {20'000, kMessageTime, 100'000};
  settings.limits.small_window = Limits::server().small_window;
  settings.seed = seed;
  return settings;
}

// Every member multicasts until one of its calls fails; between two calls it takes up to `pause`.
class Multicasts {
 public:
  Multicasts(std::uint64_t seed, Nanoseconds pause, Fault::Kind stop = Fault::Kind::kPause)
      : random(seed),
        victim(static_cast<NodeId>(random.below(kTeam))),
        team_(settings_of(seed)),
        pause_(pause),
        root_(static_cast<Rank>(random.below(kTeam))) {
    stop_.kind = stop;
    stop_.nodes = {victim};
    team_.cluster.set_listener([this](std::uint64_t cookie, const Answer& a) { on_answer(cookie, a); });
    for (NodeId id = 0; id < kTeam; ++id) call_later(id);
  }
  // True: all but the victim have failed.
  bool run_with_a_stop() {
    stopped_at = team_.cluster.now() + random.between(0, 50 * kMillisecond);
    team_.cluster.run_until(stopped_at);
    team_.cluster.begin(stop_);
    return team_.cluster.run_until(team_.in(2 * kPatience), [this] { return failed_ == kTeam - 1; });
  }
  // The victim is back, and all call again, up to the generation that the furthest of them had come to. True: through.
  bool go_on() {
    team_.cluster.heal(stop_);
    EXPECT_TRUE(team_.cluster.connect_all());
    went_on_at = team_.cluster.now();
    if (stop_.kind == Fault::Kind::kCrash) begin_anew();
    last_ = *std::max_element(std::begin(next_), std::end(next_));
    for (NodeId id = 0; id < kTeam; ++id)
      if (!waits_[id]) step(id);
    return team_.cluster.run_until(team_.in(16 * kPatience), [this] { return through() == kTeam; });
  }
  // One more multicast, when the victim too knows that its sessions began anew. True: it came to all.
  bool works() {
    team_.cluster.run_until(team_.in(5 * kMillisecond));
    std::fill(std::begin(ends), std::end(ends), CallDone{});
    ++last_;
    for (NodeId id = 0; id < kTeam; ++id) step(id);
    if (!team_.cluster.run_until(team_.in(kPatience), [this] { return through() == kTeam; })) return false;
    return std::ranges::all_of(ends, [](const CallDone& end) { return end.verdict == Verdict::kOk; });
  }
  Nanoseconds now() const { return team_.cluster.now(); }

  Random random;
  const NodeId victim;
  Nanoseconds stopped_at = 0, went_on_at = 0;
  bool deadline_missed = false;
  Nanoseconds longest_wait = 0;  // of a call, since all went on
  CallDone ends[kTeam] = {};
  Nanoseconds ended_at[kTeam] = {};

 private:
  void call_later(NodeId id) {
    const Nanoseconds after = pause_ == 0 ? 0 : random.between(0, pause_);
    team_.cluster.at(team_.in(after), [this, id, began = went_on_at] {
      if (began == went_on_at) call(id);  // else it has been told to go on meanwhile
    });
  }
  // A new incarnation takes part in what is open when it comes.
  void begin_anew() {
    waits_[victim] = false;
    next_[victim] = team_.cluster.open(victim, "all").generation;
  }
  // Once all go on: to the last generation, however those before it end.
  void step(NodeId id) {
    if (next_[id] < last_) call_later(id);
  }
  NodeId through() const {
    NodeId count = 0;
    for (NodeId id = 0; id < kTeam; ++id) count += next_[id] >= last_ && !waits_[id];
    return count;
  }
  void call(NodeId id) {
    if (!team_.cluster.node(id).running()) return;
    waits_[id] = true;
    called_at_[id] = team_.cluster.now();
    const Nanoseconds deadline = team_.in(kPatience);
    const Generation g = next_[id]++;
    const Asked asked =
        id == root_ ? team_.cluster.send_multicast(id, team_.group, root_, g, deadline, std::vector<std::byte>(3'000))
                    : team_.cluster.receive_multicast(id, team_.group, root_, g, deadline);
    ASSERT_EQ(asked.admission, Admission::kTaken);
  }
  void on_answer(std::uint64_t, const Answer& answer) {
    waits_[answer.node] = false;
    if (last_ > 0) {
      longest_wait = std::max(longest_wait, team_.cluster.now() - std::max(called_at_[answer.node], went_on_at));
      ends[answer.node] = answer.event.done;
      deadline_missed = deadline_missed || answer.event.done.verdict == Verdict::kDeadlineExceeded;
      return step(answer.node);
    }
    if (answer.node == victim && stopped_at > 0 && team_.cluster.now() >= stopped_at) return;
    if (answer.event.done.verdict == Verdict::kOk) return call_later(answer.node);
    ends[answer.node] = answer.event.done;
    ended_at[answer.node] = answer.at;
    failed_ += answer.node != victim;
  }

  Team team_;
  const Nanoseconds pause_;
  const Rank root_;
  Fault stop_;
  Generation next_[kTeam] = {}, last_ = 0;
  bool waits_[kTeam] = {};
  Nanoseconds called_at_[kTeam] = {};
  NodeId failed_ = 0;
};

class StoppedMember : public testing::TestWithParam<Nanoseconds> {};

TEST_P(StoppedMember, IsNamedToAllOthersInTime) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Multicasts run(seed, GetParam());
    ASSERT_TRUE(run.run_with_a_stop()) << "seed " << seed;
    for (NodeId id = 0; id < kTeam; ++id) {
      if (id == run.victim) continue;
      EXPECT_EQ(run.ends[id].verdict, Verdict::kPeerLost) << "seed " << seed << ", node " << id;
      EXPECT_EQ(run.ends[id].ranks, only(run.victim)) << "seed " << seed << ", node " << id;
      // A late caller is told when it calls.
      EXPECT_LE(run.ended_at[id] - run.stopped_at, kSuspicion + 10 * GetParam()) << "seed " << seed << ", node " << id;
    }
  }
}

TEST_P(StoppedMember, GoesOnAndNobodyWaitsForWhatWasLostMeanwhile) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Multicasts run(seed, GetParam());
    ASSERT_TRUE(run.run_with_a_stop() && run.go_on()) << "seed " << seed;
    EXPECT_FALSE(run.deadline_missed) << "seed " << seed;
    EXPECT_LE(run.longest_wait, kSuspicion + 20 * kMillisecond) << "seed " << seed;
    EXPECT_LE(run.now() - run.went_on_at, 2 * kSuspicion + 20 * (GetParam() + kMessageTime)) << "seed " << seed;
    EXPECT_TRUE(run.works()) << "seed " << seed;
  }
}

TEST_P(StoppedMember, IsStartedAgainAndNobodyWaitsForWhatItHadNotPassedOn) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Multicasts run(seed, GetParam(), Fault::Kind::kCrash);
    ASSERT_TRUE(run.run_with_a_stop() && run.go_on()) << "seed " << seed;
    EXPECT_FALSE(run.deadline_missed) << "seed " << seed;
    EXPECT_LE(run.longest_wait, kSuspicion + 20 * kMillisecond) << "seed " << seed;
    EXPECT_LE(run.now() - run.went_on_at, 2 * kSuspicion + 20 * (GetParam() + kMessageTime)) << "seed " << seed;
    EXPECT_TRUE(run.works()) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(PauseBetweenCalls, StoppedMember,
                         testing::Values(0, 5 * kMillisecond, 50 * kMillisecond, 400 * kMillisecond));

}  // namespace
}  // namespace fibocast

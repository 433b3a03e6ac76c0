// A member that is stopped while a group does nothing but multicast: the others are told that it is lost, each of them,
// however late it calls, and within the suspicion time, whatever they were waiting for.
#include <gtest/gtest.h>

#include <vector>

#include "firmware_sim/random.h"
#include "tests/runtime/node/team.h"

namespace fibocast {
namespace {

constexpr NodeId kMembers = 16;
constexpr Nanoseconds kSuspicion = 500 * kMillisecond;
constexpr Nanoseconds kPatience = 60 * kSecond;

ClusterSettings settings_of(std::uint64_t seed) {
  ClusterSettings settings = cluster_of(kMembers);
  settings.node.suspicion = kSuspicion;
  settings.network = {20'000, 200'000, 100'000};
  settings.limits.small_window = Limits::server().small_window;
  settings.seed = seed;
  return settings;
}

// Every member multicasts until one of its calls fails; between two calls it takes up to `pause`.
class Multicasts {
 public:
  Multicasts(std::uint64_t seed, Nanoseconds pause)
      : random(seed),
        victim(static_cast<NodeId>(random.below(kMembers))),
        team_(settings_of(seed)),
        pause_(pause),
        root_(static_cast<Rank>(random.below(kMembers))) {
    stop_.kind = Fault::Kind::kPause;
    stop_.nodes = {victim};
    team_.cluster.set_listener([this](std::uint64_t cookie, const Answer& a) { on_answer(cookie, a); });
    for (NodeId id = 0; id < kMembers; ++id) call_later(id);
  }
  // True: all but the victim have failed.
  bool run_with_a_stop() {
    stopped_at = team_.cluster.now() + random.between(0, 50 * kMillisecond);
    team_.cluster.run_until(stopped_at);
    team_.cluster.begin(stop_);
    return team_.cluster.run_until(team_.in(2 * kPatience), [this] { return failed_ == kMembers - 1; });
  }

  Random random;
  const NodeId victim;
  Nanoseconds stopped_at = 0;
  CallDone ends[kMembers] = {};
  Nanoseconds ended_at[kMembers] = {};

 private:
  void call_later(NodeId id) {
    const Nanoseconds after = pause_ == 0 ? 0 : random.between(0, pause_);
    team_.cluster.at(team_.in(after), [this, id] { call(id); });
  }
  void call(NodeId id) {
    if (!team_.cluster.node(id).running()) return;
    const Nanoseconds deadline = team_.in(kPatience);
    const Generation g = next_[id]++;
    const Asked asked =
        id == root_ ? team_.cluster.send_multicast(id, team_.group, root_, g, deadline, std::vector<std::byte>(3'000))
                    : team_.cluster.receive_multicast(id, team_.group, root_, g, deadline);
    ASSERT_EQ(asked.admission, Admission::kTaken);
  }
  void on_answer(std::uint64_t, const Answer& answer) {
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
  Generation next_[kMembers] = {};
  NodeId failed_ = 0;
};

class StoppedMember : public testing::TestWithParam<Nanoseconds> {};

TEST_P(StoppedMember, IsNamedToAllOthersInTime) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Multicasts run(seed, GetParam());
    ASSERT_TRUE(run.run_with_a_stop()) << "seed " << seed;
    for (NodeId id = 0; id < kMembers; ++id) {
      if (id == run.victim) continue;
      EXPECT_EQ(run.ends[id].verdict, Verdict::kPeerLost) << "seed " << seed << ", node " << id;
      EXPECT_EQ(run.ends[id].ranks, only(run.victim)) << "seed " << seed << ", node " << id;
      // A late caller is told when it calls.
      EXPECT_LE(run.ended_at[id] - run.stopped_at, kSuspicion + 10 * GetParam()) << "seed " << seed << ", node " << id;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(PauseBetweenCalls, StoppedMember,
                         testing::Values(0, 5 * kMillisecond, 50 * kMillisecond, 400 * kMillisecond));

}  // namespace
}  // namespace fibocast

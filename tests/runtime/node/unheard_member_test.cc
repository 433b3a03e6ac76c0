// A member that hears the others but is not heard for a while, and goes on where it was: it does not know that it was
// given up. What it sends before it is told so never comes to those who hear that later than others of the group.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/runtime/node/team.h"

namespace fibocast {
namespace {

constexpr NodeId kUnheard = 1, kOther = 2;
constexpr Generation kLast = 120;
constexpr Nanoseconds kGivenUpAfter = 500 * kMillisecond;

ClusterSettings three(std::uint64_t seed) {
  ClusterSettings settings = cluster_of(3);
  settings.node.suspicion = kGivenUpAfter;
  settings.limits.small_window = Limits::server().small_window;  // what is not heard does not hold it up
  settings.seed = seed;
  return settings;
}

// Each calls one multicast after the other until three have failed; every twelfth is of the member that is not heard.
class Turns {
 public:
  explicit Turns(Generation first) : team(three(first)), first_(first) {
    team.cluster.set_listener([this](std::uint64_t, const Answer& answer) {
      ++next_[answer.node];
      deadline_missed = deadline_missed || answer.event.done.verdict == Verdict::kDeadlineExceeded;
      failed_[answer.node] += answer.event.done.verdict != Verdict::kOk;
      stopped_[answer.node] = !goes_on_ && failed_[answer.node] == 3;
      if (!stopped_[answer.node]) call_later(answer.node);
    });
    for (NodeId id = 0; id < 3; ++id) call_later(id);
  }
  // Also when calls fail.
  void go_on() {
    goes_on_ = true;
    for (NodeId id = 0; id < 3; ++id)
      if (stopped_[id]) call_later(id);
  }
  bool are_through() const {
    return std::ranges::all_of(next_, [](Generation next) { return next == kLast; });
  }

  Team team;
  bool deadline_missed = false;

 private:
  void call_later(NodeId id) {
    if (next_[id] < kLast) team.cluster.at(team.in(kMillisecond), [this, id] { call(id); });
  }
  void call(NodeId id) {
    const Generation g = next_[id];
    const Rank root = g % 12 == first_ ? kUnheard : kOther;
    const Asked asked = id == root ? team.cluster.send_multicast(id, team.group, root, g, team.in(60 * kSecond),
                                                                 std::vector<std::byte>(100))
                                   : team.cluster.receive_multicast(id, team.group, root, g, team.in(60 * kSecond));
    if (asked.admission == Admission::kWouldBlock) call_later(id);
  }
  const Generation first_;
  bool goes_on_ = false;
  bool stopped_[3] = {};
  int failed_[3] = {};
  Generation next_[3] = {};
};

// True: all came through, and nobody waited to a deadline.
bool goes_well(Generation first, Nanoseconds unheard) {
  Turns turns(first);
  VirtualCluster& cluster = turns.team.cluster;
  cluster.run_until(turns.team.in(20 * kMillisecond));
  const Fault one_way{.kind = Fault::Kind::kOneWay, .nodes = {kUnheard}};
  cluster.begin(one_way);
  cluster.run_until(turns.team.in(unheard));
  cluster.heal(one_way);
  turns.go_on();
  const Fault late{.kind = Fault::Kind::kOneWay, .nodes = {0}};  // it finds the member again after the other has
  cluster.begin(late);
  cluster.run_until(turns.team.in(kGivenUpAfter / 4));
  cluster.heal(late);
  return cluster.run_until(turns.team.in(20 * kSecond), [&] { return turns.are_through(); }) && !turns.deadline_missed;
}

TEST(UnheardMember, IsHeardAgainAndNobodyWaitsForWhatItSentBeforeItKnew) {
  const Nanoseconds step = (FIBOCAST_SANITIZED ? 490 : 70) * kMillisecond;
  for (Generation first = 0; first < 12; ++first)
    for (Nanoseconds unheard = kGivenUpAfter; unheard < 3 * kSecond; unheard += step)
      EXPECT_TRUE(goes_well(first, unheard)) << first << " " << unheard / kMillisecond;
}

}  // namespace
}  // namespace fibocast

#include "runtime/cli/bench_repetition.h"

#include <algorithm>

#include "runtime/daemon/node_host.h"

namespace fibocast {
namespace {

constexpr std::chrono::milliseconds kReleaseLead{5};  // until T0: all members have called by then

using BenchMember = BenchCluster::Member;
using OutcomeDone = std::function<void(Outcome)>;

Nanoseconds last_activation(const std::vector<Outcome>& outcomes) {
  Nanoseconds last = 0;
  for (const Outcome& outcome : outcomes) last = std::max(last, outcome.activated_at);
  return last;
}

Nanoseconds largest_lateness(const std::vector<Outcome>& outcomes) {
  Nanoseconds largest = 0;
  for (const Outcome& outcome : outcomes) largest = std::max(largest, outcome.lateness);
  return largest;
}

class RepetitionRun {
 public:
  RepetitionRun(BenchCluster& cluster, const BenchCase& of, BenchGroups& groups, Duration deadline)
      : cluster_(cluster), case_(of), groups_(groups), deadline_(deadline) {}

  Result<TimedRepetition> run() {
    OperationOptions uncharged;
    uncharged.charged = false;
    if (Status status = worst_of(cluster_.barrier(groups_.members, deadline_, uncharged)); !status.ok()) return status;
    const Span span = measure();
    if (Status status = worst_of(outcomes_); !status.ok()) return status;
    return TimedRepetition{span.end - span.begin, largest_lateness(outcomes_)};
  }

 private:
  struct Span {
    Nanoseconds begin, end;
  };

  Span measure() {
    switch (case_.mode) {
      case BenchMode::kBarrier: return barrier();
      case BenchMode::kScatter: return scatter();
      case BenchMode::kGather: return gather();
      case BenchMode::kAnswer: return answer();
      case BenchMode::kDistribution: break;
    }
    return distribution();
  }

  OperationOptions how() const {
    OperationOptions options;
    options.algorithm = case_.algorithm;
    return options;
  }
  static Nanoseconds soon() { return monotonic_now() + std::chrono::nanoseconds(kReleaseLead).count(); }
  std::vector<std::byte> payload(bool gives, std::uint64_t blocks = 1) const {
    return std::vector<std::byte>(gives ? case_.bytes * blocks : 0);
  }
  void multicast(BenchMember& member, Rank root, OutcomeDone done) {
    member.group.async_multicast(root, payload(member.group.rank() == root), deadline_, std::move(done), how());
  }
  Span from_first_send() const { return {outcomes_.front().first_send_at, last_activation(outcomes_)}; }

  Span distribution() {
    outcomes_ = cluster_.run(groups_.members,
                             [&](BenchMember& member, OutcomeDone done) { multicast(member, 0, std::move(done)); });
    return from_first_send();
  }

  Span barrier() {
    OperationOptions options = how();
    options.not_before = soon();
    outcomes_ = cluster_.barrier(groups_.members, deadline_, options);
    return {options.not_before, last_activation(outcomes_)};
  }

  Span scatter() {
    outcomes_ = cluster_.run(groups_.members, [&](BenchMember& member, OutcomeDone done) {
      const OperationOptions options = how();
      member.group.async_scatter(0, payload(member.group.rank() == 0, case_.ranks), deadline_, std::move(done),
                                 options);
    });
    return from_first_send();
  }

  Span gather() {
    const Nanoseconds begin = soon();
    outcomes_ = cluster_.run(groups_.members, [&](BenchMember& member, OutcomeDone done) {
      OperationOptions options = how();
      options.not_before = begin + member.clock.offset;
      member.group.async_gather(0, payload(true), deadline_, std::move(done), options);
    });
    return {begin, outcomes_.front().activated_at};
  }

  // The application of the last rank answers when it has the message. It does so after a failure too: the root waits.
  // What it takes until then is left out, as calibration does: the model knows no such time.
  Span answer() {
    BenchCluster::Members all = groups_.members;
    all.insert(all.end(), groups_.answer.begin(), groups_.answer.end());
    BenchMember& last = all[case_.ranks - 1];
    BenchMember& answering = all.back();
    OutcomeDone answered;
    outcomes_ = cluster_.run(all, [&](BenchMember& member, OutcomeDone done) {
      if (&member == &answering)
        answered = std::move(done);
      else if (&member == &last)
        multicast(member, 0, [&, done = std::move(done)](Outcome outcome) {
          multicast(answering, 1, std::move(answered));
          done(std::move(outcome));
        });
      else
        multicast(member, &member < &last ? 0 : 1, std::move(done));
    });
    const Nanoseconds thinking = outcomes_.back().first_send_at - outcomes_[case_.ranks - 1].activated_at;
    return {outcomes_.front().first_send_at + thinking, outcomes_[case_.ranks].activated_at};
  }

  BenchCluster& cluster_;
  const BenchCase& case_;
  BenchGroups& groups_;
  Duration deadline_;
  std::vector<Outcome> outcomes_;
};

}  // namespace

Result<TimedRepetition> run_repetition(BenchCluster& cluster, const BenchCase& of, BenchGroups& groups,
                                       Duration deadline) {
  return RepetitionRun(cluster, of, groups, deadline).run();
}

}  // namespace fibocast

// One failure detector in virtual time, for its tests: drains its outputs after every event and keeps them.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/node/failure_detector.h"

namespace fibocast {

inline constexpr Nanoseconds kMs = 1'000'000;

class Watched {
 public:
  struct Probe {
    Nanoseconds at;
    NodeId to;
    bool operator==(const Probe&) const = default;
  };
  using Told = std::pair<NodeId, News>;

  explicit Watched(std::uint32_t nodes, NodeId self = 0)
      : settings_{.self = self, .nodes = nodes, .incarnation = incarnation(self)},
        memory_(new std::max_align_t[FailureDetector::bytes_needed(Limits{}) / sizeof(std::max_align_t) + 1]),
        d(Limits{}, settings_, {reinterpret_cast<std::byte*>(memory_.get()), FailureDetector::bytes_needed(Limits{})}) {
    d.start(now);
  }
  static std::uint64_t incarnation(NodeId node) { return 1000 + node; }

  // All others come, now.
  void everybody_came() {
    for (NodeId n = 0; n < settings_.nodes; ++n)
      if (n != settings_.self) d.came(n, incarnation(n), now);
    drain();
    forget();
  }
  void heard(NodeId n) { d.heard(n, now), drain(); }
  void refused(NodeId n) { d.refused(n, now), drain(); }
  void news(NodeId from, NodeId subject, std::uint32_t life, Belief b) {
    d.on_news(from, {subject, incarnation(subject), life, b}, now), drain();
  }
  // Runs the timers, in time, until `end`.
  void run_until(Nanoseconds end) {
    while (d.next_deadline() <= end) {
      now = d.next_deadline();
      d.on_timer(now);
      drain();
    }
    now = end;
  }
  void run(Nanoseconds duration) { run_until(now + duration); }
  // The same, and every probe of these peers is answered at once.
  void run_answered(Nanoseconds duration, std::vector<NodeId> answering) {
    const Nanoseconds end = now + duration;
    while (d.next_deadline() <= end) {
      const std::size_t before = probes.size();
      run_until(d.next_deadline());
      for (std::size_t i = before; i < probes.size(); ++i)
        for (NodeId n : answering)
          if (n == probes[i].to) heard(n);
    }
    now = end;
  }
  void forget() { probes.clear(), told.clear(), changes.clear(); }
  std::size_t probes_of(NodeId n) const {
    std::size_t count = 0;
    for (const Probe& p : probes) count += p.to == n;
    return count;
  }
  std::size_t told_about(NodeId subject, Belief belief, NodeId to = kNoNode) const {
    std::size_t count = 0;
    for (const auto& [target, n] : told)
      count += n.subject == subject && n.belief == belief && (to == kNoNode || to == target);
    return count;
  }
  void drain() {
    NodeId to;
    News n;
    BeliefChange c;
    while (d.poll_probe(to)) probes.push_back({now, to});
    while (d.poll_news(to, n)) told.emplace_back(to, n);
    while (d.poll_change(c)) changes.push_back(c), changed_at.push_back(now);
  }

 private:
  DetectorSettings settings_;
  std::unique_ptr<std::max_align_t[]> memory_;

 public:
  Nanoseconds now = 1000 * kMs;
  FailureDetector d;
  std::vector<Probe> probes;
  std::vector<Told> told;
  std::vector<BeliefChange> changes;
  std::vector<Nanoseconds> changed_at;
};

}  // namespace fibocast

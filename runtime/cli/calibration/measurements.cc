#include "runtime/cli/calibration/measurements.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "collectives/algorithm_catalog.h"
#include "collectives/cost_model.h"
#include "runtime/cli/calibration/star_groups.h"
#include "runtime/cli/calibration/timed_run.h"

namespace fibocast {
namespace {

constexpr double kLate = 0.01;
constexpr int kTries = 5;  // of a repetition that came late
constexpr std::uint32_t kFans[] = {1, 2, 4};
constexpr std::uint32_t kPostalRanks[] = {1, 2, 4, 8};

using Members = BenchCluster::Members;
using Nodes = std::vector<NodeId>;

struct Timed {
  std::vector<Outcome> outcomes;
  Nanoseconds begin = 0;
  double end_of(std::size_t rank) const { return double(outcomes[rank].activated_at - begin); }
  // Of a rank that makes one transfer: what its emulated card was late is this host's, not the machine's.
  double received_by(std::size_t rank) const { return end_of(rank) - double(outcomes[rank].lateness); }
  double begun_by(std::size_t rank) const { return double(outcomes[rank].first_send_at - begin); }
  double last() const {
    Nanoseconds last = 0;
    for (const Outcome& outcome : outcomes) last = std::max(last, outcome.activated_at);
    return double(last - begin);
  }
};

class Calibrator {
 public:
  Calibrator(BenchCluster& cluster, const CalibrationPlan& plan, Measurements& taken)
      : cluster_(cluster), plan_(plan), taken_(taken), groups_(cluster) {}

  Status prepare();
  Status run(const std::function<void(std::size_t, std::size_t)>& progress);

 private:
  // Records its values, or returns false in `in_time`: then it is taken again.
  using Experiment = std::function<Status(bool& in_time)>;

  NodeId size() const { return static_cast<NodeId>(cluster_.size()); }
  NodeId after(NodeId node, NodeId steps) const { return (node + steps) % size(); }
  NodeId steps(NodeId from, NodeId to) const { return (to + size() - from) % size(); }
  void add(Experiment experiment) { experiments_.push_back(std::move(experiment)); }
  Status add_activations(NodeId root);
  Status add_round_trips();
  Status add_fan_in(NodeId root);
  struct Fan {
    NodeId root;
    std::uint32_t senders;  // the nodes after it
  };
  std::vector<Fan> fans_of(NodeId root, std::uint32_t k) const;
  Status fan_in(const std::vector<Fan>& fans, Members& all, bool& ok);
  Status add_postal();
  void add_concurrency(const std::vector<Members>& pairs);
  Status add_whole();

  Status meet(Members& members);
  Status multicast(Members& members, Rank root, std::uint64_t bytes, Timed& timed, bool charged = true);
  Status together(Members& members, const BenchCluster::Start& start, Timed& timed);
  Status barrier(Members& members, Timed& timed);
  bool in_time(const Timed& timed);
  double machine_time(double measured) const { return measured / plan_.scale; }

  BenchCluster& cluster_;
  const CalibrationPlan& plan_;
  Measurements& taken_;
  StarGroups groups_;
  std::vector<Experiment> experiments_;
  std::vector<std::byte> payload_;
  std::map<std::pair<NodeId, std::uint64_t>, Sample> of_host_;  // of `receive`, as messages take that are not charged
  Nanoseconds apart_ = 0;                                       // the senders of a fan-in to an emulated card
};

Rank rank_in(const Members& members, NodeId node) {
  for (Rank rank = 0; rank < members.size(); ++rank)
    if (members[rank].node == node) return rank;
  return kNoRank;
}

Members joined(const std::vector<Members>& groups) {
  Members all;
  for (const Members& group : groups) all.insert(all.end(), group.begin(), group.end());
  return all;
}

// ---- one operation

// A barrier that an emulated network lets pass free.
Status Calibrator::meet(Members& members) {
  OperationOptions free;
  free.charged = false;
  return worst_of(cluster_.barrier(members, plan_.deadline, free));
}

Status Calibrator::multicast(Members& members, Rank root, std::uint64_t bytes, Timed& timed, bool charged) {
  if (Status status = meet(members); !status.ok()) return status;
  payload_.resize(bytes);
  const Nanoseconds begin = time_to_call(members.size());
  timed.outcomes = cluster_.run(members, [&](BenchCluster::Member& member, auto done) {
    const bool sends = member.group.rank() == root;
    OperationOptions options;
    options.charged = charged;
    if (sends) options.not_before = begin + member.clock.offset;
    member.group.async_multicast(root, sends ? std::span<const std::byte>(payload_) : std::span<const std::byte>{},
                                 plan_.deadline, std::move(done), options);
  });
  timed.begin = timed.outcomes[root].first_send_at;
  return worst_of(timed.outcomes);
}

// All are released at one time, on their own clocks.
Status Calibrator::together(Members& members, const BenchCluster::Start& start, Timed& timed) {
  if (Status status = meet(members); !status.ok()) return status;
  timed.begin = time_to_call(members.size());
  timed.outcomes = cluster_.run(members, start);
  return worst_of(timed.outcomes);
}

Status Calibrator::barrier(Members& members, Timed& timed) {
  return together(
      members,
      [&](BenchCluster::Member& member, auto done) {
        OperationOptions options;
        options.not_before = timed.begin + member.clock.offset;
        member.group.async_barrier(plan_.deadline, std::move(done), options);
      },
      timed);
}

bool Calibrator::in_time(const Timed& timed) {
  if (!plan_.emulated) return true;
  Nanoseconds lateness = 0;
  for (const Outcome& outcome : timed.outcomes) lateness = std::max(lateness, outcome.lateness);
  const Nanoseconds may_be_late = std::llround(kLate * timed.last());
  if (lateness > may_be_late) return false;
  apart_ = apart_ == 0 ? may_be_late : std::min(apart_, may_be_late);
  return true;
}

// ---- the experiments

// t(a first) = S + R_a, t(a second) = 2 S + R_a, and the same of b: so the receivers may differ. What a message takes
// that an emulated card lets pass free is this host's, not the machine's: it is taken off R.
Status Calibrator::add_activations(NodeId root) {
  const NodeId receivers[] = {after(root, 1), after(root, 2)};
  std::vector<Members> orders;
  for (const auto& [first, second] : {std::pair{0, 1}, std::pair{1, 0}}) {
    auto members = groups_.star({root, receivers[first], receivers[second]});
    if (!members.ok()) return members.status();
    orders.push_back(*members);
  }
  for (const std::uint64_t bytes : plan_.sizes)
    add([this, root, receivers = std::to_array(receivers), bytes, orders](bool& ok) mutable {
      Timed timed[2], free[2];
      for (const int order : {0, 1}) {
        const Rank rank = rank_in(orders[order], root);
        if (Status status = multicast(orders[order], rank, bytes, timed[order]); !status.ok()) return status;
        ok = ok && in_time(timed[order]);
        if (!plan_.emulated) continue;
        if (Status status = multicast(orders[order], rank, bytes, free[order], false); !status.ok()) return status;
      }
      if (!ok) return Status{};
      for (const int receiver : {0, 1}) {
        const Rank rank = rank_in(orders[0], receivers[receiver]);
        const double first = timed[receiver].received_by(rank), second = timed[1 - receiver].received_by(rank);
        taken_.send[{root, bytes}].push_back(machine_time(second - first));
        taken_.receive[{receivers[receiver], bytes}].push_back(machine_time(2 * first - second));
        if (plan_.emulated) of_host_[{receivers[receiver], bytes}].push_back(machine_time(free[receiver].end_of(rank)));
      }
      return Status{};
    });
  return {};
}

// The circle method: in round i the pairs are (last, i) and (i - j, i + j) modulo n - 1; with an odd number of nodes
// the last one is nobody.
Status Calibrator::add_round_trips() {
  const NodeId n = size() + size() % 2;
  for (NodeId round = 0; round + 1 < n; ++round) {
    std::vector<Members> pairs;
    for (NodeId j = 0; j < n / 2; ++j) {
      NodeId a = j == 0 ? n - 1 : (round + j) % (n - 1), b = j == 0 ? round : (round + n - 1 - j) % (n - 1);
      if (a > b) std::swap(a, b);
      if (b >= size()) continue;
      auto members = groups_.star({a, b});
      if (!members.ok()) return members.status();
      pairs.push_back(*members);
    }
    if (round == 0) add_concurrency(pairs);
    add([this, all = joined(pairs)](bool& ok) mutable {
      Timed timed;
      if (Status status = barrier(all, timed); !status.ok()) return status;
      ok = in_time(timed);
      if (!ok) return Status{};
      for (std::size_t i = 0; i < all.size(); i += 2)
        taken_.round_trips[{all[i].node, all[i + 1].node}].push_back(
            machine_time(std::max(timed.end_of(i), timed.end_of(i + 1))));
      return Status{};
    });
  }
  return {};
}

void Calibrator::add_concurrency(const std::vector<Members>& pairs) {
  for (std::uint32_t count = 1; count <= pairs.size();
       count = count == pairs.size() ? count + 1 : std::min<std::uint32_t>(2 * count, pairs.size()))
    add([this, count, some = joined({pairs.begin(), pairs.begin() + count})](bool& ok) mutable {
      Timed timed;
      if (Status status = barrier(some, timed); !status.ok()) return status;
      ok = in_time(timed);
      if (ok) taken_.concurrency[count].push_back(machine_time(timed.last()));
      return Status{};
    });
}

// Where senders begin at once, the first message to arrive is that of the least late: the more of them, the sooner, as
// if o were smaller. So all, also those of different fans, begin apart by what they may be late.
Status Calibrator::fan_in(const std::vector<Fan>& fans, Members& all, bool& ok) {
  Timed timed;
  const auto gather = [&](BenchCluster::Member& member, auto done) {
    const auto fan = std::ranges::find_if(fans, [&](Fan f) { return steps(f.root, member.node) <= f.senders; });
    const auto number = steps(fans.front().root, member.node) - (fan - fans.begin());
    OperationOptions options;
    options.algorithm = "sequential";
    options.not_before = timed.begin + member.clock.offset + apart_ * number;
    member.group.async_gather(all[rank_in(all, fan->root)].group.rank(), {}, plan_.deadline, std::move(done), options);
  };
  if (Status status = together(all, gather, timed); !status.ok()) return status;
  if (ok = in_time(timed); !ok) return {};
  for (const Fan& fan : fans) {
    FanIn taken{{}, machine_time(timed.end_of(rank_in(all, fan.root)))};  // late by about the same for each k
    for (NodeId i = 1; i <= fan.senders; ++i)
      taken.begun.push_back(machine_time(timed.begun_by(rank_in(all, after(fan.root, i)))));
    taken_.fan_in[{fan.root, fan.senders}].push_back(taken);
  }
  return {};
}

// A host that has just been awake for another node wakes sooner. So of an emulated machine about as many nodes send for
// each k: those that are not of the k, to a root of their own, and what that receives counts as well.
std::vector<Calibrator::Fan> Calibrator::fans_of(NodeId root, std::uint32_t k) const {
  std::vector<Fan> fans{{root, k}};
  NodeId nodes = size() - k - 1;
  for (std::uint32_t left = std::ranges::max(kFans) - k; plan_.emulated && left > 0 && nodes > 1;) {
    fans.push_back({after(fans.back().root, fans.back().senders + 1), std::min(left, nodes - 1)});
    left -= fans.back().senders, nodes -= fans.back().senders + 1;
  }
  return fans;
}

Status Calibrator::add_fan_in(NodeId root) {
  for (const std::uint32_t k : kFans) {
    if (k >= size()) break;
    const std::vector<Fan> fans = fans_of(root, k);
    std::vector<Members> groups;
    for (const Fan& fan : fans) {
      Nodes nodes;
      for (NodeId i = 0; i <= fan.senders; ++i) nodes.push_back(after(fan.root, i));
      auto members = groups_.star(nodes);
      if (!members.ok()) return members.status();
      groups.push_back(*members);
    }
    add([this, fans, all = joined(groups)](bool& ok) mutable { return fan_in(fans, all, ok); });
  }
  return {};
}

// What the application takes between being active and its answer is left out: the model knows no such time.
Status Calibrator::add_postal() {
  for (const std::uint32_t k : kPostalRanks) {
    if (k >= size()) break;
    Nodes out(k + 1), back{k};
    std::iota(out.begin(), out.end(), 0);
    for (NodeId node = k; node-- > 0;) back.push_back(node);
    auto there = groups_.star(out), answer = groups_.star({k, 0}), home = groups_.star(back);
    for (const auto* group : {&there, &answer, &home})
      if (!group->ok()) return group->status();
    for (const int experiment : {1, 2})
      for (const std::uint64_t bytes : plan_.sizes)
        add([this, k, experiment, bytes, way = *there, returns = experiment == 1 ? *answer : *home](bool& ok) mutable {
          Timed forth, back_again;
          if (Status status = multicast(way, 0, bytes, forth); !status.ok()) return status;
          if (Status status = multicast(returns, rank_in(returns, k), bytes, back_again); !status.ok()) return status;
          ok = in_time(forth) && in_time(back_again);
          if (!ok) return Status{};
          taken_.postal[{experiment, bytes, k}].push_back(
              machine_time(forth.received_by(rank_in(way, k)) + back_again.received_by(rank_in(returns, 0))));
          return Status{};
        });
  }
  return {};
}

// Many messages and few wakings, or the other way round; a chain, or all at once; and bytes.
Status Calibrator::add_whole() {
  constexpr auto kBarrier = Operation::kBarrier, kMulticast = Operation::kMulticast;
  constexpr std::tuple<Operation, const char*, std::uint64_t> kRuns[] = {
      {kBarrier, "sequential", 0},       {kBarrier, "kary:1", 0},       {kBarrier, "dissemination:2", 0},
      {kBarrier, "dissemination:8", 0},  {kMulticast, "sequential", 0}, {kMulticast, "kary:1", 0},
      {kMulticast, "sequential", 32768}, {kMulticast, "kary:1", 32768}};
  Nodes all(size());
  std::iota(all.begin(), all.end(), 0);
  auto members = groups_.star(all);
  if (!members.ok()) return members.status();
  for (const auto& [operation, algorithm, bytes] : kRuns) {
    OperationShape shape{.operation = operation, .ranks = size(), .total_bytes = bytes};
    std::string error;
    shape.choice = choose_algorithm(operation, algorithm, error).value_or(AlgorithmChoice{});
    const auto schedule = build_schedule(fibo_plan({}), shape);
    if (!schedule) return {Code::kFailed, std::string(algorithm) + " cannot be built for so many ranks", {}};
    taken_.whole.push_back(HostExperiment{*schedule, {}});
    const TimedRun run{operation, algorithm, bytes, plan_.deadline};
    add([this, run, at = taken_.whole.size() - 1, group = *members](bool&) mutable {
      auto time = time_run(cluster_, group, run);
      if (time.ok()) taken_.whole[at].taken.push_back(machine_time(double(time->taken)));
      return time.status();
    });
  }
  return {};
}

Status Calibrator::prepare() {
  if (size() < 3)
    return {Code::kInvalid, "calibration needs at least 3 daemons; this cluster has " + std::to_string(size()), {}};
  for (NodeId root = 0; root < size(); ++root) {
    if (Status status = add_activations(root); !status.ok()) return status;
    if (Status status = add_fan_in(root); !status.ok()) return status;
  }
  if (Status status = add_round_trips(); !status.ok()) return status;
  if (plan_.colocated > 1 && !plan_.emulated)
    if (Status status = add_whole(); !status.ok()) return status;
  return add_postal();
}

Status Calibrator::run(const std::function<void(std::size_t, std::size_t)>& progress) {
  std::vector<std::size_t> order;
  for (std::uint32_t i = 0; i < plan_.repetitions; ++i)
    for (std::size_t e = 0; e < experiments_.size(); ++e) order.push_back(e);
  std::mt19937_64 random(plan_.seed);
  std::ranges::shuffle(order, random);
  for (std::size_t done = 0; done < order.size(); ++done) {
    bool ok = false;
    for (int tries = 0; !ok && tries < kTries; ++tries) {
      ok = true;
      if (Status status = experiments_[order[done]](ok); !status.ok()) return status;
      if (!ok) ++taken_.late;
    }
    progress(done + 1, order.size());
  }
  for (const auto& [key, sample] : of_host_) {
    const double free = median(sample);
    for (double& value : taken_.receive[key]) value -= free;
  }
  return {};
}

}  // namespace

Status measure(BenchCluster& cluster, const CalibrationPlan& plan, Measurements& taken,
               const std::function<void(std::size_t, std::size_t)>& progress) {
  Calibrator calibrator(cluster, plan, taken);
  if (Status status = calibrator.prepare(); !status.ok()) return status;
  return calibrator.run(progress);
}

}  // namespace fibocast

#include "runtime/cli/calibration/calibration.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "collectives/cost_model.h"
#include "collectives/models/postal_measure.h"

namespace fibocast {
namespace {

constexpr int kSteps = 40;  // of o between 0 and r, and again around the best of them
constexpr int kRounds = 3;
constexpr double kAlike = 1.1;      // costs of one type of node differ by less
constexpr double kOtherHost = 1.5;  // round trips to another host take so much longer
constexpr double kVague = 0.3;      // of r: an interval of o that is wider says nothing

// A value over the sizes: at no bytes, and per byte.
struct OverBytes {
  Estimate at_none, per_byte;
};

using BySize = std::map<std::pair<NodeId, std::uint64_t>, Sample>;

OverBytes over_bytes(const BySize& all, NodeId node, const std::vector<std::uint64_t>& sizes) {
  std::vector<double> bytes;
  std::vector<Sample> samples;
  for (const std::uint64_t size : sizes)
    if (const auto found = all.find({node, size}); found != all.end() && !found->second.empty())
      bytes.push_back(static_cast<double>(size)), samples.push_back(found->second);
  OverBytes out;
  if (samples.empty()) return out;
  if (bytes.front() == static_cast<double>(sizes.front())) out.at_none = median_estimate(samples.front());
  if (samples.size() > 1)
    out.per_byte = estimate(samples, [&](std::span<const Sample> drawn) { return line_through(bytes, drawn).slope; });
  return out;
}

// When the last of k messages that left at the same time is received: they queue for o each (A31).
double fan_in_time(std::vector<double> arrivals, double occupancy) {
  std::ranges::sort(arrivals);
  double free = 0;
  for (const double arrival : arrivals) free = std::max(free, arrival) + occupancy;
  return free;
}

// The o between 0 and r with which the fan-ins of a root are explained best; its senders may have different s, and
// began when they did. What a message takes beyond that is the same for any number of senders and belongs to no cost:
// it is left free, and o is what one more sender adds.
class FanIns {
 public:
  FanIns(const Measurements& taken, const Calibration& calibration, NodeId root)
      : receive_(std::max(0.0, calibration.nodes[root].receive.value)) {
    for (const auto& [key, repetitions] : taken.fan_in) {
      if (key.first != root || repetitions.empty()) continue;
      repetitions_.push_back(repetitions);
      for (FanIn& repetition : repetitions_.back())
        for (std::size_t i = 0; i < repetition.begun.size(); ++i)
          repetition.begun[i] += calibration.nodes[(root + 1 + i) % calibration.nodes.size()].send.value;
      numbers_.emplace_back(repetitions.size());
      std::iota(numbers_.back().begin(), numbers_.back().end(), 0);
    }
  }
  Estimate occupancy() const {
    if (repetitions_.size() < 2) return {0, 0, receive_};
    return estimate(numbers_, [this](std::span<const Sample> drawn) { return best(drawn); });
  }

 private:
  // Among all, then more finely around the best. `drawn`: numbers of repetitions, for each number of senders.
  double best(std::span<const Sample> drawn) const {
    double best = 0, low = 0, high = receive_;
    for (int round = 0; round < kRounds; ++round) {
      const double step = (high - low) / kSteps;
      double least = HUGE_VAL;
      for (int i = 0; i <= kSteps; ++i)
        if (const double e = error(drawn, low + i * step); e < least) least = e, best = low + i * step;
      low = std::max(0.0, best - step), high = std::min(receive_, best + step);
    }
    return best;
  }
  double error(std::span<const Sample> drawn, double occupancy) const {
    Sample late;
    for (std::size_t k = 0; k < drawn.size(); ++k) {
      Sample of_these;
      for (const double number : drawn[k])
        of_these.push_back(late_by(repetitions_[k][static_cast<std::size_t>(number)], occupancy));
      late.push_back(median(std::move(of_these)));
    }
    const double usual = median(late);
    double error = 0;
    for (const double value : late) error += std::abs(value - usual);
    return error;
  }
  double late_by(const FanIn& repetition, double occupancy) const {
    std::vector<double> arrivals = repetition.begun;
    for (double& arrival : arrivals) arrival += receive_ - occupancy;
    return repetition.received - fan_in_time(std::move(arrivals), occupancy);
  }

  double receive_;
  std::vector<std::vector<FanIn>> repetitions_;  // for each number of senders; `begun`: when their sends ended
  std::vector<Sample> numbers_;                  // 0, 1, .. of these
};

Estimate median_of(const std::vector<NodeCosts>& nodes, Estimate NodeCosts::*cost) {
  Sample values, lows, highs;
  for (const NodeCosts& node : nodes)
    values.push_back((node.*cost).value), lows.push_back((node.*cost).low), highs.push_back((node.*cost).high);
  return {median(values), median(lows), median(highs)};
}

PostalResult postal_result(const Measurements& taken, std::uint64_t bytes) {
  PostalResult result;
  result.bytes = bytes;
  for (const int experiment : {1, 2}) {
    std::vector<std::uint64_t> ks;
    std::vector<Sample> samples;
    for (const auto& [key, sample] : taken.postal)
      if (std::get<0>(key) == experiment && std::get<1>(key) == bytes && !sample.empty())
        ks.push_back(std::get<2>(key)), samples.push_back(sample);
    if (samples.size() < 2) return result;
    const auto lambda = [&](std::span<const Sample> drawn) {
      std::vector<ExperimentPoint> points;
      for (std::size_t i = 0; i < ks.size(); ++i) points.push_back({ks[i], median(drawn[i])});
      std::string error;
      const auto fit = fit_experiment(static_cast<PostalExperiment>(experiment), points, error);
      return fit ? fit->lambda : 0.0;
    };
    (experiment == 1 ? result.one_way : result.there_and_back) = estimate(samples, lambda);
  }
  result.disagree = result.one_way.low > result.there_and_back.high || result.there_and_back.low > result.one_way.high;
  return result;
}

// d barriers of two nodes each side by side, as one schedule.
Schedule schedule_of_pairs(std::uint32_t pairs) {
  OperationShape shape{.operation = Operation::kBarrier, .ranks = 2};
  shape.choice = {Algorithm::kTrees, TreeKind::kSequential, 0};
  const auto pair = build_schedule(fibo_plan({}), shape);
  Schedule all{shape, {}};
  all.shape.ranks = 2 * pairs;
  for (Rank first = 0; first < 2 * pairs; first += 2)
    for (RankPart part : pair->ranks) {
      for (Transfer& t : part.transfers) t.peer = t.peer + first;
      all.ranks.push_back(part);
    }
  return all;
}

// Of co-located nodes one activation after another is lost in the noise of waking up.
void fit_shared_host(const Measurements& taken, const CalibrationPlan& plan, Calibration& c) {
  std::vector<HostExperiment> experiments = taken.whole;
  for (const auto& [pairs, sample] : taken.concurrency) experiments.push_back({schedule_of_pairs(pairs), sample});
  std::erase_if(experiments, [](const HostExperiment& e) { return e.taken.empty(); });
  const HostFit fit = fit_host(experiments, plan.colocated);
  c.shared_host = true;
  c.processors = fit.processors, c.fit_error = fit.error, c.wake = fit.wake;
  c.model.send = fit.send, c.model.occupancy = fit.occupancy, c.latency = fit.latency;
  c.model.receive = {fit.latency.value + fit.occupancy.value, fit.latency.low + fit.occupancy.low,
                     fit.latency.high + fit.occupancy.high};
  const Estimate half{fit.per_byte.value / 2, fit.per_byte.low / 2, fit.per_byte.high / 2};
  c.model.send_per_byte = c.model.receive_per_byte = half;
}

// Nodes whose costs form a chain without a step of more than kAlike.
std::vector<std::vector<NodeId>> alike(const std::vector<NodeCosts>& nodes) {
  std::vector<std::vector<NodeId>> types(1);
  for (NodeId node = 0; node < nodes.size(); ++node) types[0].push_back(node);
  for (const auto cost : {&NodeCosts::send, &NodeCosts::receive}) {
    std::vector<std::vector<NodeId>> finer;
    for (std::vector<NodeId>& type : types) {
      std::ranges::sort(type, {}, [&](NodeId node) { return (nodes[node].*cost).value; });
      finer.emplace_back();
      for (std::size_t i = 0; i < type.size(); ++i) {
        const bool step = i > 0 && (nodes[type[i]].*cost).value > kAlike * (nodes[type[i - 1]].*cost).value &&
                          (nodes[type[i]].*cost).low > (nodes[type[i - 1]].*cost).high;
        if (step) finer.emplace_back();
        finer.back().push_back(type[i]);
      }
    }
    types = finer;
  }
  for (std::vector<NodeId>& type : types) std::ranges::sort(type);
  std::ranges::sort(types);
  return types;
}

// The largest step between round trips parts near from far, if it is large; nodes near each other are a host.
std::vector<std::vector<NodeId>> near_each_other(const Measurements& taken, NodeId nodes) {
  std::map<std::pair<NodeId, NodeId>, double> times;
  Sample sorted;
  for (const auto& [pair, sample] : taken.round_trips)
    if (!sample.empty()) sorted.push_back(times[pair] = median(sample));
  std::ranges::sort(sorted);
  double limit = HUGE_VAL, largest = kOtherHost;
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i] > largest * sorted[i - 1]) largest = sorted[i] / sorted[i - 1], limit = sorted[i];
  std::vector<NodeId> host(nodes);
  for (NodeId node = 0; node < nodes; ++node) host[node] = node;
  for (const auto& [pair, time] : times)
    if (time < limit) std::ranges::replace(host, host[pair.second], host[pair.first]);
  std::map<NodeId, std::vector<NodeId>> hosts;
  for (NodeId node = 0; node < nodes; ++node) hosts[host[node]].push_back(node);
  std::vector<std::vector<NodeId>> out;
  for (const auto& [name, members] : hosts) out.push_back(members);
  return out;
}

template <class Key>
std::size_t outliers_of(const std::map<Key, Sample>& samples) {
  std::size_t count = 0;
  for (const auto& [key, sample] : samples) count += outliers(sample);
  return count;
}

using ByFan = std::pair<NodeId, std::uint32_t>;
std::map<ByFan, Sample> received(const std::map<ByFan, std::vector<FanIn>>& fan_ins) {
  std::map<ByFan, Sample> times;
  for (const auto& [key, repetitions] : fan_ins)
    for (const FanIn& repetition : repetitions) times[key].push_back(repetition.received);
  return times;
}

void find_unidentified(Calibration& c) {
  c.unidentified.push_back("R_c and X_c, R_m and X_m: only their sums can be measured from outside");
  if (c.shared_host) {
    c.unidentified.push_back(
        "s, l and o of single messages: they are lost in waking up a host's nodes; those above are of whole "
        "operations");
    c.unidentified.push_back("S_m and R_m + X_m: on a shared host only their sum counts; each is given as half of it");
    return;
  }
  if (c.model.occupancy.high - c.model.occupancy.low > kVague * c.model.receive.value)
    c.unidentified.push_back(
        "o: arrivals at one node do not queue long enough to be told from the noise; l + o is known");
  if (c.model.receive.low <= 0) c.unidentified.push_back("r: below the noise of a receiver that has to be woken");
}

}  // namespace

Calibration calibrate(const Measurements& taken, const CalibrationPlan& plan, std::uint32_t nodes) {
  Calibration c;
  c.nodes.resize(nodes);
  for (NodeId node = 0; node < nodes; ++node) {
    const OverBytes send = over_bytes(taken.send, node, plan.sizes),
                    receive = over_bytes(taken.receive, node, plan.sizes);
    c.nodes[node].send = send.at_none, c.nodes[node].send_per_byte = send.per_byte;
    c.nodes[node].receive = receive.at_none, c.nodes[node].receive_per_byte = receive.per_byte;
  }
  for (NodeId node = 0; node < nodes; ++node) c.nodes[node].occupancy = FanIns(taken, c, node).occupancy();
  for (const auto cost : {&NodeCosts::send, &NodeCosts::send_per_byte, &NodeCosts::receive,
                          &NodeCosts::receive_per_byte, &NodeCosts::occupancy})
    c.model.*cost = median_of(c.nodes, cost);
  c.model.occupancy.value = std::min(c.model.occupancy.value, std::max(c.model.receive.value, 0.0));
  const Estimate &s = c.model.send, &r = c.model.receive, &o = c.model.occupancy;
  c.latency = {r.value - o.value, r.low - o.high, r.high - o.low};
  if (!taken.whole.empty()) fit_shared_host(taken, plan, c);
  c.lambda = {1 + r.value / s.value, 1 + r.low / s.high, 1 + r.high / s.low};
  for (const std::uint64_t bytes : plan.sizes) c.postal.push_back(postal_result(taken, bytes));
  c.types = alike(c.nodes);
  c.hosts = near_each_other(taken, nodes);
  c.outliers = outliers_of(taken.send) + outliers_of(taken.receive) + outliers_of(taken.round_trips) +
               outliers_of(received(taken.fan_in)) + outliers_of(taken.postal) + outliers_of(taken.concurrency);
  c.late = taken.late;
  find_unidentified(c);
  return c;
}

NodeModel model_of(const Calibration& c) {
  const auto ns = [](double value) { return static_cast<Nanoseconds>(std::llround(std::max(value, 0.0))); };
  NodeModel model;
  model.s = std::max<Nanoseconds>(ns(c.model.send.value), 1);
  model.o = ns(c.model.occupancy.value);
  model.l = std::max<Nanoseconds>(ns(c.latency.value), model.o > 0 ? 0 : 1);
  model.send_per_byte = std::max(c.model.send_per_byte.value, 0.0);
  model.receive_per_byte = std::max(c.model.receive_per_byte.value, 0.0);
  if (c.shared_host) model.processors = c.processors, model.wake = ns(c.wake.value);
  return model;
}

}  // namespace fibocast

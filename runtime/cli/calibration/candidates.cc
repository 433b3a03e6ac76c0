#include "runtime/cli/calibration/candidates.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <set>

#include "collectives/schedule.h"
#include "runtime/cli/calibration/timed_run.h"

namespace fibocast {
namespace {

constexpr std::uint32_t kRoundsForAll = 3;  // before anybody can be left out
// Who is behind the best by more than this share over the square root of the rounds is left out: two standard errors of
// the difference of two middle means where single times scatter by a quarter, as on hosts that nodes share.
constexpr double kFarBehind = 0.6;
constexpr double kLateContest = 0.02;  // of an emulated card: then it is measured again
constexpr int kTriesOfContest = 10;

// What the ranks send and wait for, without the name of the algorithm.
std::string messages_of(const Plan& plan, const OperationShape& shape) {
  const auto schedule = build_schedule(plan, shape);
  const std::string text = schedule ? to_text(*schedule) : "";
  return text.substr(std::min(text.size(), text.find('\n')));
}

Contest contest_of(const ContestPlan& plan, Rank ranks, Operation operation, std::uint64_t bytes) {
  PlanQuestion question{{.operation = operation, .ranks = ranks, .total_bytes = bytes}, plan.model, plan.hosts};
  const PlanAnswer answered = answer(question);
  Contest contest;
  contest.operation = operation, contest.bytes = bytes;
  std::set<std::string> known;
  for (std::size_t i = 0; i < answered.candidates.size(); ++i) {
    const Candidate& candidate = answered.candidates[i];
    const bool is_chosen = answered.chosen == i;
    if (!candidate.objection.empty() || (!plan.all && !is_chosen)) continue;
    question.shape.choice = candidate.choice, question.shape.segment_bytes = candidate.segment_bytes;
    if (!known.insert(messages_of(fibo_plan(plan.model), question.shape)).second) continue;
    if (is_chosen) contest.chosen = contest.candidates.size();
    const std::uint32_t cut = plan.segment_bytes > 0 && bytes > plan.segment_bytes ? plan.segment_bytes : 0;
    contest.candidates.push_back({.name = candidate.name,
                                  .choice = candidate.choice,
                                  .segment_bytes = candidate.segment_bytes,
                                  .is_plannable = candidate.segment_bytes == cut,
                                  .predicted = static_cast<double>(candidate.predicted) / kContestTicks,
                                  .taken = {},
                                  .in_final = {}});
  }
  return contest;
}

// Of those whom the filter lets pass and who were measured; `otherwise` if there are none.
template <class Filter>
std::size_t fastest_of(const Contest& contest, std::size_t otherwise, Filter filter) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < contest.candidates.size(); ++i) {
    if (contest.candidates[i].taken.empty() || !filter(i)) continue;
    if (!best || contest.candidates[i].measured() < contest.candidates[*best].measured()) best = i;
  }
  return best.value_or(otherwise);
}

Estimate excess_over(const Sample& here, const Sample& best) {
  const Sample both[] = {here, best};
  return estimate(both,
                  [](std::span<const Sample> drawn) { return middle_mean(drawn[0]) / middle_mean(drawn[1]) - 1; });
}

// Groups of all nodes along the trees of the model, one for each size of segments.
class Arenas {
 public:
  Arenas(BenchCluster& cluster, const ContestPlan& plan) : cluster_(cluster), trees_(fibo_plan(plan.model)) {}
  ~Arenas() {
    for (const auto& [segment, members] : members_) cluster_.remove_group(name(segment));
  }
  Arenas(const Arenas&) = delete;
  Arenas& operator=(const Arenas&) = delete;

  Status add(std::uint32_t segment) {
    if (members_.contains(segment)) return {};
    GroupRequest request;
    request.name = name(segment);
    request.nodes.resize(cluster_.size());
    std::iota(request.nodes.begin(), request.nodes.end(), 0);
    request.distribution = trees_.distribution, request.reduction = trees_.reduction;
    request.segment_bytes = segment;
    auto members = cluster_.create_group(request);
    if (!members.ok()) return members.status();
    members_.emplace(segment, *members);
    return {};
  }
  BenchCluster::Members& of(std::uint32_t segment) { return members_.at(segment); }

 private:
  static std::string name(std::uint32_t segment) {
    return "calibrate-" + std::to_string(getpid()) + "-segments-" + std::to_string(segment);
  }
  BenchCluster& cluster_;
  const Plan trees_;
  std::map<std::uint32_t, BenchCluster::Members> members_;
};

class ContestRunner {
 public:
  ContestRunner(BenchCluster& cluster, const ContestPlan& plan, std::vector<Contest>& contests)
      : cluster_(cluster), plan_(plan), contests_(contests), arenas_(cluster, plan), random_(plan.seed) {}

  Status prepare() {
    for (const Contest& contest : contests_)
      for (const MeasuredCandidate& candidate : contest.candidates)
        if (Status status = arenas_.add(candidate.segment_bytes); !status.ok()) return status;
    return {};
  }

  // The first one is to warm up.
  Status run_round(std::uint32_t number) {
    std::vector<std::pair<std::size_t, std::size_t>> order;
    for (std::size_t c = 0; c < contests_.size(); ++c)
      for (std::size_t i = 0; i < contests_[c].candidates.size(); ++i)
        if (number <= kRoundsForAll || is_close(contests_[c], i)) order.emplace_back(c, i);
    std::ranges::shuffle(order, random_);
    for (const auto& [c, i] : order)
      if (Status status = run_one(contests_[c], i, number > 0 ? &MeasuredCandidate::taken : nullptr); !status.ok())
        return status;
    return {};
  }

  Status run_final_round() {
    std::vector<std::pair<std::size_t, std::size_t>> order;
    for (std::size_t c = 0; c < contests_.size(); ++c)
      for (const std::size_t i : {contests_[c].preferred(), contests_[c].rival()}) order.emplace_back(c, i);
    std::ranges::shuffle(order, random_);
    for (const auto& [c, i] : order)
      if (Status status = run_one(contests_[c], i, &MeasuredCandidate::in_final); !status.ok()) return status;
    return {};
  }

 private:
  // `into`: null for a warm-up.
  Status run_one(Contest& contest, std::size_t i, Sample MeasuredCandidate::*into) {
    MeasuredCandidate& candidate = contest.candidates[i];
    const TimedRun run{contest.operation, candidate.name, contest.bytes, plan_.deadline, plan_.emulated};
    for (int tries = 0; tries < kTriesOfContest; ++tries) {
      auto time = time_run(cluster_, arenas_.of(candidate.segment_bytes), run);
      if (!time.ok()) return time.status();
      const auto taken = static_cast<double>(time->taken);
      if (plan_.emulated && static_cast<double>(time->lateness) > kLateContest * taken) continue;
      if (into) (candidate.*into).push_back(taken / plan_.scale);
      break;
    }
    return {};
  }

  static bool is_close(const Contest& contest, std::size_t i) {
    const std::vector<MeasuredCandidate>& all = contest.candidates;
    if (i == contest.chosen || all[i].taken.empty() || all[contest.fastest()].taken.empty()) return true;
    const double near = 1 + kFarBehind / std::sqrt(static_cast<double>(all[i].taken.size()));
    return all[i].measured() < near * all[contest.fastest()].measured();
  }

  BenchCluster& cluster_;
  const ContestPlan& plan_;
  std::vector<Contest>& contests_;
  Arenas arenas_;
  std::mt19937_64 random_;
};

}  // namespace

std::size_t Contest::preferred() const {
  return fastest_of(*this, chosen, [&](std::size_t i) { return candidates[i].is_plannable; });
}

std::size_t Contest::fastest() const {
  return fastest_of(*this, chosen, [](std::size_t) { return true; });
}

std::size_t Contest::rival() const {
  return fastest_of(*this, preferred(), [but = preferred()](std::size_t i) { return i != but; });
}

std::size_t Contest::best() const {
  const Sample &here = candidates[preferred()].in_final, &there = candidates[rival()].in_final;
  return !here.empty() && middle_mean(there) < middle_mean(here) ? rival() : preferred();
}

Estimate Contest::excess() const {
  if (best() == preferred()) return {};
  return excess_over(candidates[preferred()].in_final, candidates[best()].in_final);
}

Estimate Contest::excess_of_model() const {
  if (fastest() == chosen) return {};
  return excess_over(candidates[chosen].taken, candidates[fastest()].taken);
}

std::vector<MeasuredChoice> measured_choices(const std::vector<Contest>& contests, Rank ranks) {
  std::vector<MeasuredChoice> choices;
  for (const Contest& c : contests)
    if (c.candidates.size() > 1 && c.candidates[c.preferred()].is_plannable)
      choices.push_back({c.operation, ranks, c.bytes, c.candidates[c.preferred()].choice});
  return choices;
}

Result<std::vector<Contest>> measure_candidates(
    BenchCluster& cluster, const ContestPlan& plan, const std::vector<std::uint64_t>& sizes,
    const std::function<void(std::size_t done, std::size_t all)>& progress) {
  std::vector<Contest> contests{contest_of(plan, cluster.size(), Operation::kBarrier, 0)};
  for (const std::uint64_t bytes : sizes)
    contests.push_back(contest_of(plan, cluster.size(), Operation::kMulticast, bytes));
  ContestRunner runner(cluster, plan, contests);
  if (Status status = runner.prepare(); !status.ok()) return status;
  const auto is_after = [](auto time) { return std::chrono::steady_clock::now() > time; };
  for (std::uint32_t round = 0; round <= plan.repetitions && (round <= kRoundsForAll || !is_after(plan.until));
       ++round) {
    if (Status status = runner.run_round(round); !status.ok()) return status;
    progress(round, plan.repetitions);
  }
  const std::uint32_t finals = plan.all ? plan.repetitions : 0;
  for (std::uint32_t round = 0; round < finals && (round < kRoundsForAll || !is_after(plan.end)); ++round)
    if (Status status = runner.run_final_round(); !status.ok()) return status;
  for (const Contest& contest : contests)
    if (contest.candidates[contest.chosen].taken.empty())
      return Status{Code::kFailed, "the host is too busy: every repetition came late", {}};
  return contests;
}

}  // namespace fibocast

#include "runtime/cli/calibration/candidates.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "runtime/cli/calibration/timed_run.h"

namespace fibocast {
namespace {

Contest contest_of(const ContestPlan& plan, Rank ranks, Operation operation, std::uint64_t bytes) {
  PlanQuestion question;
  question.model = plan.model;
  question.hosts = plan.hosts;
  question.shape.operation = operation, question.shape.ranks = ranks, question.shape.total_bytes = bytes;
  const PlanAnswer answered = answer(question);
  Contest contest;
  contest.operation = operation, contest.bytes = bytes;
  for (std::size_t i = 0; i < answered.candidates.size(); ++i) {
    const Candidate& candidate = answered.candidates[i];
    if (!candidate.objection.empty()) continue;
    if (answered.chosen == i) contest.chosen = contest.candidates.size();
    contest.candidates.push_back(
        {candidate.name, candidate.segment_bytes, static_cast<double>(candidate.predicted), {}});
  }
  return contest;
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

class Contests {
 public:
  Contests(BenchCluster& cluster, const ContestPlan& plan) : cluster_(cluster), plan_(plan), arenas_(cluster, plan) {}

  Result<double> run(const Contest& contest, const MeasuredCandidate& candidate) {
    const TimedRun run{contest.operation, candidate.name, contest.bytes, plan_.deadline};
    auto time = time_run(cluster_, arenas_.of(candidate.segment_bytes), run);
    if (!time.ok()) return time.status();
    return static_cast<double>(time->taken) / plan_.scale;
  }

  Status prepare(const std::vector<Contest>& contests) {
    for (const Contest& contest : contests)
      for (const MeasuredCandidate& candidate : contest.candidates)
        if (Status status = arenas_.add(candidate.segment_bytes); !status.ok()) return status;
    return {};
  }

 private:
  BenchCluster& cluster_;
  const ContestPlan& plan_;
  Arenas arenas_;
};

}  // namespace

std::size_t Contest::best() const {
  std::size_t best = 0;
  for (std::size_t i = 1; i < candidates.size(); ++i)
    if (candidates[i].measured() < candidates[best].measured()) best = i;
  return best;
}

Result<std::vector<Contest>> measure_candidates(
    BenchCluster& cluster, const ContestPlan& plan, const std::vector<std::uint64_t>& sizes,
    const std::function<void(std::size_t done, std::size_t all)>& progress) {
  std::vector<Contest> contests{contest_of(plan, cluster.size(), Operation::kBarrier, 0)};
  for (const std::uint64_t bytes : sizes)
    contests.push_back(contest_of(plan, cluster.size(), Operation::kMulticast, bytes));
  Contests runner(cluster, plan);
  if (Status status = runner.prepare(contests); !status.ok()) return status;
  std::vector<std::pair<std::size_t, std::size_t>> order;
  for (std::size_t c = 0; c < contests.size(); ++c)
    for (std::size_t i = 0; i < contests[c].candidates.size(); ++i) order.emplace_back(c, i);
  std::mt19937_64 random(plan.seed);
  for (std::uint32_t repetition = 0; repetition <= plan.repetitions; ++repetition) {
    std::ranges::shuffle(order, random);
    for (std::size_t i = 0; i < order.size(); ++i) {
      Contest& contest = contests[order[i].first];
      MeasuredCandidate& candidate = contest.candidates[order[i].second];
      auto time = runner.run(contest, candidate);
      if (!time.ok()) return time.status();
      if (repetition > 0) candidate.taken.push_back(*time);  // the first of each is to warm up
      progress(repetition * order.size() + i + 1, (plan.repetitions + 1) * order.size());
    }
  }
  return contests;
}

}  // namespace fibocast

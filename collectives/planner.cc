#include "collectives/planner.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "collectives/lambda_candidates.h"
#include "collectives/predict_hosts.h"

namespace fibocast {
namespace {

constexpr std::array<std::uint16_t, 5> kArities = {1, 2, 3, 4, 8};
constexpr std::array<std::uint16_t, 4> kDisseminations = {2, 3, 4, 8};
constexpr std::array<std::uint32_t, 4> kSegments = {4096, 16384, 65536, 262144};
constexpr std::uint64_t kMostSegments = 256;
constexpr std::uint64_t kMostSegmentMessages = std::uint64_t{1} << 18;
// Daemons plan while somebody waits. Beyond, plans do not try what is evaluated for each pair of ranks, and shared
// hosts are predicted by the bound of their processors alone.
constexpr Rank kMostPairwiseRanksOfPlan = 96;
constexpr std::uint64_t kMostHostMessages = std::uint64_t{1} << 18, kMostHostMessagesOfPlan = 2048;

constexpr std::uint64_t kRepresentatives[kSizeClasses] = {8, 16384, 1 << 20};

// Timed for the links of a fat tree (E11, E12, E16). Where each message has its own way, as in all that is planned for,
// these wait for nothing: pairwise, which sends the same messages without a pause, is never slower.
bool is_timed_for_links(Algorithm algorithm) {
  return algorithm == Algorithm::kPhasedConstant || algorithm == Algorithm::kPhasedExponential ||
         algorithm == Algorithm::kPhasedXor;
}

bool is_lambda_of_plans(const AlgorithmChoice& choice) {
  return choice.tree == TreeKind::kLambda && std::ranges::binary_search(planned_lambdas(), choice.parameter);
}

// Whether payloads can be cut: those that go down a tree.
bool can_be_cut(const OperationShape& shape) {
  const bool has_payload = shape.operation == Operation::kMulticast || shape.operation == Operation::kAllreduce;
  return has_payload && shape.choice.algorithm == Algorithm::kTrees && shape.ranks > 1;
}

// The busiest host's processors need at least this for the messages of its nodes, however they overlap.
std::uint64_t host_bound(const Forecast& forecast, const HostSharing& hosts) {
  if (hosts.nodes <= 1) return 0;
  std::uint64_t most = 0;
  for (std::size_t first = 0; first < forecast.loads.size(); first += hosts.nodes) {
    std::uint64_t work = 0;
    for (std::size_t i = first; i < std::min<std::size_t>(first + hosts.nodes, forecast.loads.size()); ++i)
      work += forecast.loads[i].ticks;
    most = std::max(most, work / hosts.processors + (work % hosts.processors != 0));
  }
  return most;
}

// Where the processors of a host never rest, all that makes them do the same takes the same time.
bool is_faster(const Candidate& a, const Candidate& b) {
  return std::tuple(a.cost(), a.in_turns, a.forecast.completion) <
         std::tuple(b.cost(), b.in_turns, b.forecast.completion);
}

// What counts beside, if nobody needs to be woken because all look again and again. Each message of a chain waits until
// it is its receiver's turn: all nodes that share a processor look, which takes about as long as a message. And the
// bytes of the busiest node are moved by one processor.
std::uint64_t turns(const HostSharing& hosts, const CostModel& model, const Candidate& candidate) {
  return candidate.forecast.rounds * (hosts.nodes / hosts.processors) * model.send +
         candidate.busiest_bytes * model.send_per_byte;
}

bool counts_in_a_row(const PlanQuestion& question) {
  const HostSharing& hosts = question.hosts;
  return question.shape.operation == Operation::kBarrier && hosts.nodes > hosts.processors && hosts.fans_out;
}

// Which candidates are looked at: all; trees alone; or those of a plan, which cuts longer payloads into the segments
// come what may, beside what was measured to be the fastest (null: nothing), but not what cannot be the fastest.
enum class Search : std::uint8_t { kAll, kTrees, kPlan };

// Works out one question. `segments` are the sizes to try beside whole payloads.
class Answering {
 public:
  Answering(const PlanQuestion& question, std::span<const std::uint32_t> segments, Search search,
            const MeasuredChoice* measured = nullptr)
      : question_(question),
        plan_(fibo_plan(question.model)),
        segments_(segments),
        search_(search),
        measured_(measured) {}

  PlanAnswer work_out() {
    const OperationShape& shape = question_.shape;
    for (const AlgorithmEntry& entry : algorithm_catalog()) {
      if (entry.operation != shape.operation || entry.least_ranks > shape.ranks) continue;
      if (is_left_out(entry.choice)) continue;
      for (const std::uint16_t parameter : parameters_of(entry)) consider(entry, parameter);
    }
    predict_shared();
    result_.bound = strongest_bound(shape, question_.model, question_.hosts);
    for (std::size_t i = 0; i < result_.candidates.size(); ++i) {
      const Candidate& c = result_.candidates[i];
      if (c.objection.empty() && (!result_.chosen || is_faster(c, *result_.best()))) result_.chosen = i;
    }
    return std::move(result_);
  }

 private:
  bool for_plan() const { return search_ == Search::kPlan; }

  bool is_left_out(const AlgorithmChoice& choice) const {
    if (search_ == Search::kTrees) return choice.algorithm != Algorithm::kTrees;
    const bool is_measured = measured_ != nullptr && measured_->choice.algorithm == choice.algorithm;
    return for_plan() && !is_measured && (is_timed_for_links(choice.algorithm) || is_hopeless(choice));
  }

  // Parts of which some hold nothing: whole vectors need fewer messages. Or so many messages that who waits for the
  // plan waits long until they are evaluated, each between two ranks and not like the others.
  bool is_hopeless(const AlgorithmChoice& choice) const {
    OperationShape shape = question_.shape;
    shape.choice = choice;
    const bool has_empty_parts =
        is_cut_into_blocks(shape) && shape.total_bytes < std::uint64_t{shape.ranks} * element_bytes(shape.type);
    const bool each_with_each =
        choice.algorithm == Algorithm::kPairwise || choice.algorithm == Algorithm::kScatterPairwise;
    const bool is_long = each_with_each && shape.ranks > kMostPairwiseRanksOfPlan;
    return has_empty_parts || (is_long && !is_symmetric(shape, question_.model));
  }

  std::vector<std::uint16_t> parameters_of(const AlgorithmEntry& entry) const {
    if (entry.choice.algorithm == Algorithm::kDissemination) return {kDisseminations.begin(), kDisseminations.end()};
    if (entry.choice.tree == TreeKind::kKary) return {kArities.begin(), kArities.end()};
    if (entry.choice.tree == TreeKind::kLambda) return lambdas_of(entry);
    return {entry.choice.parameter};
  }

  std::vector<std::uint16_t> lambdas_of(const AlgorithmEntry& entry) const {
    std::set<std::uint16_t> lambdas =
        lambda_candidates(question_.model, question_.shape.operation, bytes_of_a_message());
    if (!for_plan()) lambdas.insert(entry.choice.parameter);
    if (measured_ != nullptr && is_lambda_of_plans(measured_->choice)) lambdas.insert(measured_->choice.parameter);
    return {lambdas.begin(), lambdas.end()};
  }

  // Down a tree.
  std::uint64_t bytes_of_a_message() const {
    const OperationShape& shape = question_.shape;
    if (!for_plan() || segments_.empty() || shape.operation != Operation::kMulticast) return shape.total_bytes;
    return std::min<std::uint64_t>(shape.total_bytes, segments_[0]);
  }

  void consider(const AlgorithmEntry& entry, std::uint16_t parameter) {
    OperationShape shape = question_.shape;
    shape.choice = entry.choice;
    shape.choice.parameter = parameter;
    shape.segment_bytes = 0;
    Candidate candidate;
    candidate.choice = shape.choice;
    candidate.name = algorithm_name(shape.operation, shape.choice);
    candidate.objection = objection(shape);
    // With routers among the ranks it would be another operation.
    if (shape.choice.algorithm == Algorithm::kFlooding)
      candidate.objection = "needs routers: only half of the ranks would have data";
    if (candidate.objection.empty()) predict_with_segments(shape, candidate);
    result_.candidates.push_back(std::move(candidate));
  }

  void predict_with_segments(OperationShape shape, Candidate& candidate) {
    predict_into(shape, candidate);
    if (!candidate.objection.empty() || !can_be_cut(shape)) return;
    for (const std::uint32_t segment : segments_) {
      shape.segment_bytes = segment;
      const std::uint64_t count = (shape.total_bytes + segment - 1) / segment;
      if (count < 2 || (!for_plan() && (count > kMostSegments || count * shape.ranks > kMostSegmentMessages))) continue;
      Candidate cut = candidate;
      predict_into(shape, cut);
      if (for_plan() || cut.cost() < candidate.cost()) candidate = std::move(cut);
    }
  }

  void predict_into(const OperationShape& shape, Candidate& candidate) {
    auto forecast = fibocast::forecast(plan_, shape, question_.model);
    if (!forecast) {
      candidate.objection = "cannot be built for " + std::to_string(shape.ranks) +
                            " ranks: more stages than a schedule can have, or too many messages to be evaluated";
      return;
    }
    candidate.segment_bytes = shape.segment_bytes;
    candidate.host_bound = host_bound(*forecast, question_.hosts);
    candidate.predicted = std::max(forecast->completion, candidate.host_bound);
    candidate.in_a_row = counts_in_a_row(question_) ? candidate.host_bound : 0;
    candidate.busiest_bytes = std::ranges::max_element(forecast->loads, {}, &NodeLoad::bytes)->bytes;
    forecast->loads.clear();
    candidate.forecast = std::move(*forecast);
  }

  // Those with too many messages can only be told their bound. If that makes one look fast, all are told theirs.
  void predict_shared() {
    if (question_.hosts.nodes <= 1) return;
    const std::uint64_t most = for_plan() ? kMostHostMessagesOfPlan : kMostHostMessages;
    std::vector<Candidate> predicted = result_.candidates;
    bool may_be_faster = false;
    for (Candidate& c : predicted)
      if (c.objection.empty() && c.forecast.messages <= most) predict_shared(c);
    for (const Candidate& c : predicted)
      may_be_faster = may_be_faster || (c.objection.empty() && c.forecast.messages > most && c.cost() <= least_);
    if (!may_be_faster) result_.candidates = std::move(predicted);
  }

  // For a plan only what can still be the fastest.
  void predict_shared(Candidate& candidate) {
    if (for_plan() && candidate.host_bound > least_) return;
    OperationShape shape = question_.shape;
    shape.choice = candidate.choice, shape.segment_bytes = candidate.segment_bytes;
    const auto schedule = build_schedule(plan_, shape);
    HostSharing hosts = question_.hosts;
    hosts.fans_out = false;  // it decides only where all else is the same: the bounds know nothing of it
    const auto time = schedule ? predict_on_hosts(*schedule, question_.model, hosts) : std::nullopt;
    if (!time) return;
    candidate.predicted = candidate.in_turns = *time;
    if (for_plan() && candidate.cost() > least_) return;
    least_ = std::min(least_, candidate.cost());
    ++hosts.processors, hosts.fans_out = question_.hosts.fans_out;
    candidate.in_turns =
        predict_on_hosts(*schedule, question_.model, hosts).value_or(*time) + turns(hosts, question_.model, candidate);
  }

  const PlanQuestion& question_;
  const Plan plan_;
  const std::span<const std::uint32_t> segments_;
  const Search search_;
  const MeasuredChoice* const measured_;                             // null: none; else its parameter is tried too
  std::uint64_t least_ = std::numeric_limits<std::uint64_t>::max();  // of those that were predicted on shared hosts
  PlanAnswer result_;
};

std::vector<std::uint64_t> key_of(const PlanQuestion& q) {
  const OperationShape& s = q.shape;
  const CostModel& m = q.model;
  return {static_cast<std::uint64_t>(s.operation),
          s.ranks,
          s.total_bytes,
          static_cast<std::uint64_t>(s.type),
          static_cast<std::uint64_t>(s.op),
          m.send,
          m.latency,
          m.occupancy,
          m.send_per_byte,
          m.occupancy_per_byte,
          static_cast<std::uint64_t>(m.ports),
          q.hosts.nodes,
          q.hosts.processors,
          q.hosts.fans_out ? 1u : 0u,
          m.wake};
}

bool fits(const Candidate& c, const Limits& limits) {
  return c.objection.empty() && c.forecast.stages <= limits.stages && c.forecast.transfers <= limits.transfers;
}

PlanQuestion question_of(const CostModel& model, Rank ranks, Operation operation, std::size_t size_class,
                         const HostSharing& hosts) {
  OperationShape shape{.operation = operation, .ranks = ranks};
  shape.total_bytes = operation == Operation::kBarrier ? 0 : kRepresentatives[size_class];
  if (combines(operation)) shape.type = ElementType::kDouble, shape.op = CombineOperator::kSum;
  return {shape, model, hosts};
}

// The fastest candidate within the limits; nothing if none is.
const Candidate* best_within(const PlanAnswer& answer, const Limits& limits) {
  const Candidate* best = nullptr;
  for (const Candidate& c : answer.candidates)
    if (fits(c, limits) && (best == nullptr || is_faster(c, *best))) best = &c;
  return best;
}

const Candidate* measured_within(const PlanAnswer& answer, const MeasuredChoice* measured, const Limits& limits) {
  for (const Candidate& c : answer.candidates)
    if (measured != nullptr && c.choice == measured->choice && fits(c, limits)) return &c;
  return nullptr;
}

}  // namespace

PlanAnswer answer(const PlanQuestion& question) { return Answering(question, kSegments, Search::kAll).work_out(); }

const PlanAnswer& Planner::ask(const PlanQuestion& question) {
  std::vector<std::uint64_t> key = key_of(question);
  const auto known = answers_.find(key);
  if (known != answers_.end()) return known->second;
  return answers_.emplace(std::move(key), answer(question)).first->second;
}

double gap_percent(std::uint64_t predicted, std::uint64_t bound) {
  if (bound == 0) return predicted == 0 ? 0 : std::numeric_limits<double>::infinity();
  return 100.0 * (static_cast<double>(predicted) - static_cast<double>(bound)) / static_cast<double>(bound);
}

std::uint64_t representative_bytes(std::size_t size_class) { return kRepresentatives[size_class]; }

Plan plan_for(const CostModel& model, Rank ranks, const Limits& limits, const HostSharing& hosts,
              std::span<const MeasuredChoice> measured) {
  Plan plan = fibo_plan(model);
  const PlanQuestion longest = question_of(model, ranks, Operation::kMulticast, kSizeClasses - 1, hosts);
  const PlanAnswer along_trees = Answering(longest, kSegments, Search::kTrees).work_out();
  if (const Candidate* best = best_within(along_trees, limits)) plan.segment_bytes = best->segment_bytes;
  const std::span<const std::uint32_t> segments(&plan.segment_bytes, plan.segment_bytes > 0 ? 1 : 0);
  for (std::size_t i = 0; i < kPlannedOperations; ++i)
    for (std::size_t size = 0; size < kSizeClasses; ++size) {
      const PlanQuestion question = question_of(model, ranks, static_cast<Operation>(i + 1), size, hosts);
      const OperationShape& shape = question.shape;
      const MeasuredChoice* fastest = find_measured(measured, shape.operation, ranks, shape.total_bytes);
      const PlanAnswer planned = Answering(question, segments, Search::kPlan, fastest).work_out();
      const Candidate* best = measured_within(planned, fastest, limits);
      if (best == nullptr) best = best_within(planned, limits);
      if (best != nullptr) set_choice(plan, shape.operation, size, best->choice);
    }
  return plan;
}

}  // namespace fibocast

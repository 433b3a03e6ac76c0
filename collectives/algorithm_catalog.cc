#include "collectives/algorithm_catalog.h"

#include <array>
#include <charconv>

#include "collectives/divide.h"
#include "collectives/parameter_name.h"
#include "collectives/schedule.h"

namespace fibocast {
namespace {

using enum Algorithm;

constexpr AlgorithmChoice along(TreeKind tree, std::uint16_t parameter = 0) { return {kTrees, tree, parameter}; }

// Trees come first: `fibo` is the plan's own pair, Fibo(r,s) up and Fibo(s,r) down.
constexpr AlgorithmEntry tree(Operation operation, TreeKind kind, std::string_view name, std::string_view description,
                              bool keeps_order = true) {
  const std::uint16_t two = kind == TreeKind::kKary ? 2 : kind == TreeKind::kLambda ? 2 * kWholeLambda : 0;
  return {operation, name, description, along(kind, two), true, keeps_order};
}

constexpr auto kBarrier = Operation::kBarrier;
constexpr auto kMulticast = Operation::kMulticast;
constexpr auto kReduce = Operation::kReduce;
constexpr auto kAllreduce = Operation::kAllreduce;
constexpr auto kScatter = Operation::kScatter;
constexpr auto kGather = Operation::kGather;
constexpr auto kAllgather = Operation::kAllgather;
constexpr auto kAlltoall = Operation::kAlltoall;
constexpr auto kDivide = Operation::kDivide;
constexpr auto kConquer = Operation::kConquer;
constexpr AlgorithmChoice kHalfShares{kBinomialShares, {}, kWholeShare / 2};
constexpr std::string_view kShares = "share:ALPHA", kLambdaTree = "lambda:L";

constexpr std::array kAlgorithmCatalog = {
    tree(kBarrier, {}, "fibo", "tokens up Fibo(r,s), down Fibo(s,r)"),
    tree(kBarrier, TreeKind::kBinomial, "binomial", "tokens up and down a binomial tree"),
    tree(kBarrier, TreeKind::kSequential, "sequential", "all to the root, the root to all"),
    tree(kBarrier, TreeKind::kKary, "kary:K", "tokens up and down a K-ary tree in heap order", false),
    tree(kBarrier, TreeKind::kLambda, kLambdaTree, "tokens up and down a lambda-tree of lambda = L"),
    AlgorithmEntry{
        kBarrier, "dissemination:K", "one phase: in round i to the ranks at distances j K^i", {kDissemination, {}, 2}},
    AlgorithmEntry{
        kBarrier, "combine_delay_receive", "one phase: the postal combine for lambda rounded up", {kDelayReceive}},
    AlgorithmEntry{kBarrier, "combine_delay_send", "... for lambda rounded down, in longer rounds", {kDelaySend}},
    AlgorithmEntry{
        kBarrier, "combine_eager", "the postal model's better of these two, driven by arrivals alone", {kCombineEager}},

    tree(kMulticast, {}, "fibo", "down Fibo(s,r); long payloads in segments"),
    tree(kMulticast, TreeKind::kBinomial, "binomial", "down a binomial tree"),
    tree(kMulticast, TreeKind::kSequential, "sequential", "the root to all"),
    tree(kMulticast, TreeKind::kKary, "kary:K", "down a K-ary tree in heap order", false),
    tree(kMulticast, TreeKind::kLambda, kLambdaTree, "down a lambda-tree of lambda = L"),
    AlgorithmEntry{kMulticast,
                   "scatter_allgather",
                   "a part to each rank, then all parts around the ring",
                   {kScatterAllgather},
                   true,
                   false,
                   3},
    AlgorithmEntry{kMulticast,
                   "scatter_doubling",
                   "a part to each rank, then all parts in log2 p rounds",
                   {kScatterDoubling},
                   true,
                   false,
                   3},
    AlgorithmEntry{kMulticast,
                   "scatter_pairwise",
                   "a part to each rank, which sends it to all others",
                   {kScatterPairwise},
                   true,
                   false,
                   3},

    tree(kReduce, {}, "fibo", "up Fibo(r,s)"),
    tree(kReduce, TreeKind::kBinomial, "binomial", "up a binomial tree"),
    tree(kReduce, TreeKind::kSequential, "sequential", "all to the root"),
    tree(kReduce, TreeKind::kKary, "kary:K", "up a K-ary tree in heap order", false),
    tree(kReduce, TreeKind::kLambda, kLambdaTree, "up a lambda-tree of lambda = L"),
    AlgorithmEntry{kReduce, "halving", "recursive halving, then the parts up a binomial tree", {kHalving}},
    AlgorithmEntry{
        kReduce, "pairwise", "part i of all to rank i, which sends the root its result", {kPairwise}, true, true, 3},

    tree(kAllreduce, {}, "fibo", "reduce up Fibo(r,s), the result down Fibo(s,r)"),
    tree(kAllreduce, TreeKind::kBinomial, "binomial", "reduce up and result down a binomial tree"),
    tree(kAllreduce, TreeKind::kSequential, "sequential", "all to the root, the root to all"),
    tree(kAllreduce, TreeKind::kKary, "kary:K", "up and down a K-ary tree in heap order", false),
    tree(kAllreduce, TreeKind::kLambda, kLambdaTree, "up and down a lambda-tree of lambda = L"),
    AlgorithmEntry{
        kAllreduce, "combine_delay_receive", "the postal combine for lambda rounded up", {kDelayReceive}, false},
    AlgorithmEntry{
        kAllreduce, "combine_delay_send", "... for lambda rounded down, in longer rounds", {kDelaySend}, false},
    AlgorithmEntry{kAllreduce,
                   "combine_eager",
                   "the postal model's better of these two, driven by arrivals alone",
                   {kCombineEager},
                   false},
    AlgorithmEntry{kAllreduce, "ring", "p blocks around the ring: combine, then collect", {kRing}, true, false, 3},
    AlgorithmEntry{kAllreduce, "halving", "recursive halving, then doubling", {kHalving}},
    AlgorithmEntry{
        kAllreduce, "pairwise", "part i of all to rank i, which sends all its result", {kPairwise}, true, true, 3},
    AlgorithmEntry{
        kAllreduce, "doubling", "in round i all that one has with the rank at distance 2^i", {kDoubling}, true, true},

    tree(kScatter, {}, "fibo", "down Fibo(s,r), to each rank its subtree's blocks"),
    tree(kScatter, TreeKind::kBinomial, "binomial", "down a binomial tree, half of the blocks each time"),
    tree(kScatter, TreeKind::kSequential, "sequential", "the root to each, by rank"),
    AlgorithmEntry{kScatter, "furthest_first", "the root to each, as a fat tree likes it", {kFurthestFirst}},

    tree(kGather, {}, "fibo", "up Fibo(r,s), each rank its subtree's blocks"),
    tree(kGather, TreeKind::kBinomial, "binomial", "up a binomial tree"),
    tree(kGather, TreeKind::kSequential, "sequential", "each to the root"),
    AlgorithmEntry{kGather, "furthest_first", "each to the root, timed as a fat tree likes it", {kFurthestFirst}},

    AlgorithmEntry{kAllgather, "ring", "around the ring", {kRing}},
    AlgorithmEntry{kAllgather, "bruck", "log2 p rounds, doubling", {kBruck}},
    AlgorithmEntry{kAllgather, "pairwise", "each block straight to each", {kPairwise}},
    AlgorithmEntry{kAllgather, "flooding", "ranks n .. 2n - 2 are routers that pass everything on", {kFlooding}},

    AlgorithmEntry{kAlltoall, "pairwise", "each with each, beginning with the next rank", {kPairwise}},
    AlgorithmEntry{kAlltoall, "bruck", "log2 p rounds through others", {kBruck}},
    AlgorithmEntry{kAlltoall, "phased_constant", "in the steps of a fat tree of constant capacity", {kPhasedConstant}},
    AlgorithmEntry{kAlltoall, "phased_exponential", "... of exponential capacity", {kPhasedExponential}},
    AlgorithmEntry{kAlltoall, "phased_xor", "... in fewer steps for 8, 16 and 32 ranks", {kPhasedXor}},

    AlgorithmEntry{kDivide, kShares, "in each phase the share ALPHA of what one holds, down B(n)", kHalfShares},
    AlgorithmEntry{kConquer, kShares, "the same edges back, joined and combined", kHalfShares, true, true},
};

// "share:0.5"; without a fraction one half.
std::optional<AlgorithmChoice> match_shares(std::string_view name, const AlgorithmEntry& entry) {
  if (name == "share") return entry.choice;
  if (!name.starts_with("share:")) return {};
  const auto alpha = parse_alpha(name.substr(6));
  if (!alpha) return {};
  return AlgorithmChoice{kBinomialShares, {}, *alpha};
}

std::optional<AlgorithmChoice> match_lambda(std::string_view name) {
  if (!name.starts_with("lambda:")) return {};
  const auto lambda = parse_lambda(name.substr(7));
  return lambda ? std::optional(along(TreeKind::kLambda, *lambda)) : std::nullopt;
}

// The choice if `name` is what `entry.name` ("kary:K") stands for.
std::optional<AlgorithmChoice> match(std::string_view name, const AlgorithmEntry& entry) {
  if (entry.name == kShares) return match_shares(name, entry);
  if (entry.name == kLambdaTree) return match_lambda(name);
  if (!entry.name.ends_with(":K")) return name == entry.name ? std::optional(entry.choice) : std::nullopt;
  const std::string_view prefix = entry.name.substr(0, entry.name.size() - 1);
  AlgorithmChoice choice = entry.choice;
  const std::string_view k = name.starts_with(prefix) ? name.substr(prefix.size()) : std::string_view();
  const auto [end, failed] = std::from_chars(k.data(), k.data() + k.size(), choice.parameter);
  if (k.empty() || failed != std::errc() || end != k.data() + k.size()) return {};
  return choice;
}

bool same_but_for_parameter(const AlgorithmChoice& a, const AlgorithmChoice& b) {
  return a.algorithm == b.algorithm && a.tree == b.tree;
}

std::string names_of(Operation operation) {
  std::string names;
  for (const AlgorithmEntry& entry : kAlgorithmCatalog) {
    if (entry.operation != operation) continue;
    names += names.empty() ? "" : ", ";
    names += entry.name;
  }
  return names;
}

std::string not_whole_elements(const OperationShape& shape) {
  return "a vector of " + std::to_string(shape.total_bytes) + " bytes does not hold whole elements of " +
         std::to_string(element_bytes(shape.type)) + " bytes";
}

std::string parameters_text(Operation operation) {
  if (is_of_shares(operation)) return " (0 < ALPHA <= 1)";
  return " (trees: K >= 1, 1 <= L <= 655.35; dissemination: K >= 2)";
}

// A divide or conquer needs whole elements, and an operator where shares may overlap.
std::string objection_to_shares(const OperationShape& shape) {
  const std::uint64_t size = element_bytes(shape.type);
  if (shape.total_bytes % size != 0) return not_whole_elements(shape);
  if (!has_shares(shape))
    return std::to_string(shape.total_bytes / size) + " elements are too many: at most 4294967295 can be shared out";
  if (shape.operation == kDivide || is_possible(shape)) return {};
  if (shape.op != CombineOperator::kNone) return "this operator is not defined for elements of this type";
  return "shares of more than one half overlap: " + algorithm_name(kConquer, shape.choice) + " needs an operator";
}

}  // namespace

std::span<const AlgorithmEntry> algorithm_catalog() { return kAlgorithmCatalog; }

std::optional<AlgorithmChoice> choose_algorithm(Operation operation, std::string_view name, std::string& error) {
  if (name == "binary") name = "kary:2";
  if (name == "planned") return AlgorithmChoice{};
  for (const AlgorithmEntry& entry : kAlgorithmCatalog) {
    if (entry.operation != operation) continue;
    const auto choice = match(name, entry);
    if (choice && is_known(operation, *choice)) return choice;
  }
  if (is_of_shares(operation) && name.starts_with("share:")) {
    error = std::string(name).append(" is no share: above 0, at most 1, with at most 4 decimals, as in share:0.5");
    return {};
  }
  error = "there is no algorithm \"" + std::string(name) + "\" for " + std::string(operation_name(operation)) +
          "; there are planned, " + names_of(operation) + parameters_text(operation);
  return {};
}

const AlgorithmEntry* find_entry(Operation operation, const AlgorithmChoice& choice) {
  for (const AlgorithmEntry& entry : kAlgorithmCatalog)
    if (entry.operation == operation && same_but_for_parameter(entry.choice, choice)) return &entry;
  return nullptr;
}

std::string algorithm_name(Operation operation, const AlgorithmChoice& choice) {
  const AlgorithmEntry* entry = find_entry(operation, choice);
  if (entry == nullptr) return "planned";
  if (entry->name == kShares) return "share:" + alpha_text(choice.parameter);
  if (entry->name == kLambdaTree) return choice.parameter == 0 ? "lambda" : "lambda:" + lambda_text(choice.parameter);
  if (!entry->name.ends_with(":K")) return std::string(entry->name);
  return std::string(entry->name.substr(0, entry->name.size() - 1)) + std::to_string(choice.parameter);
}

std::string objection(const OperationShape& shape) {
  if (shape.ranks == 0) return "an operation needs at least one rank";
  if (shape.segments() > kMaxRepetitions)
    return std::to_string(shape.total_bytes) + " bytes in segments of " + std::to_string(shape.segment_bytes) +
           " are more than " + std::to_string(kMaxRepetitions) + " segments: choose larger ones";
  if (shape.choice.algorithm == kFlooding && shape.ranks % 2 == 0)
    return "flooding among n ranks needs n - 1 routers beside them: an odd number of ranks, not " +
           std::to_string(shape.ranks);
  if (is_of_shares(shape.operation)) return objection_to_shares(shape);
  if (!combines(shape.operation)) return {};
  if (!is_defined(shape.op, shape.type)) return "this operator is not defined for elements of this type";
  if (shape.total_bytes % element_bytes(shape.type) != 0) return not_whole_elements(shape);
  const AlgorithmEntry* entry = rounds(shape.type) ? find_entry(shape.operation, shape.choice) : nullptr;
  if (entry != nullptr && !entry->same_bits)
    return algorithm_name(shape.operation, shape.choice) +
           " would give other roundings at other ranks: for floating point choose fibo, doubling, ring, halving or "
           "pairwise";
  return {};
}

}  // namespace fibocast

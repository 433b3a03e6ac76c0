#include "runtime/cli/bench_case.h"

#include <map>
#include <string>

#include "collectives/algorithm_catalog.h"

namespace fibocast {
namespace {

const std::map<std::string, BenchMode> kModes = {{"distribution", BenchMode::kDistribution},
                                                 {"barrier", BenchMode::kBarrier},
                                                 {"scatter", BenchMode::kScatter},
                                                 {"gather", BenchMode::kGather},
                                                 {"answer", BenchMode::kAnswer}};

// Costs may be written as numbers or, with a unit, as strings.
std::string cost(const Json& fields, const char* key) {
  if (!fields.contains(key)) return "1";
  const Json& value = fields.at(key);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

Result<TreeSpec> tree_of(const Json& fields) {
  return tree_spec_of({fields.at("tree").get<std::string>(), cost(fields, "s"), cost(fields, "r")});
}

Status read_distribution(const Json& fields, BenchCase& result) {
  const auto name = fields.at("tree").get<std::string>();
  if (is_given_tree(name)) {
    auto tree = given_tree_of(name, {}, result.ranks);
    if (tree.ok()) result.tree = *tree;
    return tree.status();
  }
  auto tree = tree_of(fields);
  if (tree.ok()) result.distribution = *tree;
  return tree.status();
}

Status read_algorithm(const Json& fields, BenchCase& result) {
  result.algorithm = fields.value("algorithm", std::string());
  std::string error;
  if (result.algorithm.empty() || choose_algorithm(operation_of(result.mode), result.algorithm, error)) return {};
  return invalid(error);
}

Result<BenchCase> parse(const Json& fields, std::uint32_t default_repetitions) {
  BenchCase result;
  result.fields = fields;
  result.ranks = fields.at("p").get<Rank>();
  if (result.ranks < 2) return invalid("p is at least 2");
  const auto mode = kModes.find(fields.value("mode", std::string("distribution")));
  if (mode == kModes.end()) return invalid("mode is distribution, barrier, scatter, gather or answer");
  result.mode = mode->second;
  result.bytes = fields.value("bytes", std::uint64_t{0});
  if (result.bytes > kMostBenchBytes) return invalid("bytes is at most " + std::to_string(kMostBenchBytes));
  result.repetitions = fields.value("repetitions", default_repetitions);
  if (fields.contains("algorithm") || result.mode == BenchMode::kScatter || result.mode == BenchMode::kGather) {
    const Status status = read_algorithm(fields, result);
    return status.ok() ? Result<BenchCase>(result) : status;
  }
  if (const Status status = read_distribution(fields, result); !status.ok()) return status;
  if (!fields.contains("reduction")) return result;
  auto reduction = tree_of(fields.at("reduction"));
  if (!reduction.ok()) return reduction.status();
  result.reduction = *reduction;
  return result;
}

}  // namespace

Operation operation_of(BenchMode mode) {
  switch (mode) {
    case BenchMode::kBarrier: return Operation::kBarrier;
    case BenchMode::kScatter: return Operation::kScatter;
    case BenchMode::kGather: return Operation::kGather;
    case BenchMode::kDistribution:
    case BenchMode::kAnswer: break;
  }
  return Operation::kMulticast;
}

Result<BenchCase> parse_case(const Json& fields, std::uint32_t default_repetitions) {
  try {
    return parse(fields, default_repetitions);
  } catch (const Json::exception& error) {
    return invalid(error.what());
  }
}

Result<std::vector<BenchCase>> read_cases(std::istream& in, std::uint32_t default_repetitions) {
  std::vector<BenchCase> cases;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.empty()) continue;
    auto result = parse_case(Json::parse(line, nullptr, false), default_repetitions);
    if (!result.ok()) return invalid("line " + std::to_string(number) + " of the cases: " + result.status().sentence);
    cases.push_back(*result);
  }
  return cases;
}

}  // namespace fibocast

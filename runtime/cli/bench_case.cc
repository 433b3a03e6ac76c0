#include "runtime/cli/bench_case.h"

#include <string>

namespace fibocast {
namespace {

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

Result<BenchCase> parse(const Json& fields, std::uint32_t default_repetitions) {
  BenchCase result;
  result.fields = fields;
  result.ranks = fields.at("p").get<Rank>();
  if (result.ranks < 2) return invalid("p is at least 2");
  const auto mode = fields.value("mode", std::string("distribution"));
  if (mode != "distribution" && mode != "barrier") return invalid("mode is distribution or barrier");
  result.mode = mode == "barrier" ? BenchMode::kBarrier : BenchMode::kDistribution;
  result.repetitions = fields.value("repetitions", default_repetitions);
  if (const Status status = read_distribution(fields, result); !status.ok()) return status;
  if (!fields.contains("reduction")) return result;
  auto reduction = tree_of(fields.at("reduction"));
  if (!reduction.ok()) return reduction.status();
  result.reduction = *reduction;
  return result;
}

}  // namespace

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

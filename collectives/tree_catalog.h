// The names of trees, as people write them, and what they stand for: one plain table. For tools, not the core.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "collectives/plan.h"
#include "collectives/rational.h"
#include "collectives/tree.h"

namespace fibocast {

enum class LambdaConstruction : std::uint8_t { kQueue, kBottomup, kAlpha, kDescent };

// "queue", "bottomup", "alpha", "descent". Nothing for another word.
std::optional<LambdaConstruction> construction_by_name(std::string_view name);

// What a name alone does not say. s and r matter to `fibo` and `lambda` only.
struct TreeParameters {
  std::uint64_t s = 1;
  std::uint64_t r = 1;
  LambdaConstruction construction = LambdaConstruction::kQueue;
  std::optional<Rational> alpha = {};  // of kAlpha: one for every size, 0 < alpha < 1; none: the optimal table
};

struct TreeChoice {
  std::string name;                 // as it was written
  std::optional<TreeSpec> spec;     // if a daemon can run it (`lambda` always in the numbering of kDescent)
  std::function<Tree(Rank)> build;  // root 0. Precondition: ranks >= 1
};

struct TreeCatalogEntry {
  std::string_view name;         // "kary:K": K stands for a number
  std::string_view description;  // one line
  std::optional<TreeChoice> (*choose)(std::string_view argument, const TreeParameters& parameters);
};

std::span<const TreeCatalogEntry> tree_catalog();

// Nothing for a name that is not in the table; `error` is then a sentence that lists those that are.
// Precondition: are_latencies_valid(parameters.s, parameters.r).
std::optional<TreeChoice> choose_tree(std::string_view name, const TreeParameters& parameters, std::string& error);

}  // namespace fibocast

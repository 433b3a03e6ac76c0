#include "collectives/tree_catalog.h"

#include <array>
#include <charconv>

#include "collectives/check.h"
#include "collectives/tree_binomial.h"
#include "collectives/tree_fibo.h"
#include "collectives/tree_kary.h"
#include "collectives/tree_lambda.h"
#include "collectives/tree_sequential.h"

namespace fibocast {
namespace {

using Choice = std::optional<TreeChoice>;

Choice choose_sequential(std::string_view, const TreeParameters&) {
  return TreeChoice{{}, TreeSpec{.kind = TreeKind::kSequential}, tree_sequential};
}

Choice choose_kary(std::string_view argument, const TreeParameters&) {
  std::uint32_t arity = 0;
  const auto [end, error] = std::from_chars(argument.data(), argument.data() + argument.size(), arity);
  if (error != std::errc() || end != argument.data() + argument.size() || arity == 0) return {};
  return TreeChoice{
      {}, TreeSpec{.kind = TreeKind::kKary, .arity = arity}, [arity](Rank p) { return tree_kary(p, arity); }};
}

Choice choose_binary(std::string_view, const TreeParameters& parameters) { return choose_kary("2", parameters); }

Choice choose_binomial(std::string_view, const TreeParameters&) {
  return TreeChoice{{}, TreeSpec{.kind = TreeKind::kBinomial}, [](Rank p) { return tree_binomial(p); }};
}

template <BinomialVariant variant>
Choice choose_variant(std::string_view, const TreeParameters&) {
  return TreeChoice{{}, {}, [](Rank p) { return tree_binomial(p, variant); }};
}

Choice choose_fibo(std::string_view, const TreeParameters& t) {
  return TreeChoice{
      {}, TreeSpec{.kind = TreeKind::kFibo, .s = t.s, .r = t.r}, [t](Rank p) { return tree_fibo(p, t.s, t.r); }};
}

Tree lambda_alpha(Rank ranks, const TreeParameters& t) {
  if (t.alpha) return tree_lambda_alpha(ranks, *t.alpha);
  std::string error;
  const auto table = AlphaTable::make(ranks, t.s, t.r, error);
  check(table.has_value());
  return tree_lambda_alpha(ranks, *table);
}

Tree build_lambda(Rank ranks, const TreeParameters& t) {
  switch (t.construction) {
    case LambdaConstruction::kQueue: return tree_lambda_queue(ranks, t.s, t.r);
    case LambdaConstruction::kBottomup: return tree_lambda_bottomup(ranks, t.s, t.r);
    case LambdaConstruction::kAlpha: return lambda_alpha(ranks, t);
    case LambdaConstruction::kDescent: break;
  }
  return tree_lambda_descent(ranks, t.s, t.r);
}

Choice choose_lambda(std::string_view, const TreeParameters& t) {
  return TreeChoice{
      {}, TreeSpec{.kind = TreeKind::kLambda, .s = t.s, .r = t.r}, [t](Rank p) { return build_lambda(p, t); }};
}

constexpr std::array kTreeCatalog = {
    TreeCatalogEntry{"sequential", "the root sends to everybody itself", choose_sequential},
    TreeCatalogEntry{"binary", "two children each, in heap order", choose_binary},
    TreeCatalogEntry{"kary:K", "K children each, in heap order", choose_kary},
    TreeCatalogEntry{"binomial", "doubles the active ranks in each step; optimal if receiving is free",
                     choose_binomial},
    TreeCatalogEntry{"binomial:mask", "binomial by the lowest set bit", choose_variant<BinomialVariant::kMask>},
    TreeCatalogEntry{"binomial:halving", "binomial by halving the range", choose_variant<BinomialVariant::kHalving>},
    TreeCatalogEntry{"binomial:doubling", "binomial by the highest set bit",
                     choose_variant<BinomialVariant::kDoubling>},
    TreeCatalogEntry{"fibo", "optimal for a send latency s and a receive latency r", choose_fibo},
    TreeCatalogEntry{"lambda", "optimal in the postal model; lambda = 1 + r / s", choose_lambda},
};

// The argument K if `name` is what `pattern` ("kary:K") stands for.
std::optional<std::string_view> match(std::string_view name, std::string_view pattern) {
  if (!pattern.ends_with(":K")) return name == pattern ? std::optional(std::string_view()) : std::nullopt;
  const std::string_view prefix = pattern.substr(0, pattern.size() - 1);
  return name.starts_with(prefix) ? std::optional(name.substr(prefix.size())) : std::nullopt;
}

std::string allowed_names() {
  std::string names;
  for (const TreeCatalogEntry& entry : kTreeCatalog) {
    names += names.empty() ? "" : ", ";
    names += entry.name;
  }
  return names;
}

}  // namespace

std::optional<LambdaConstruction> construction_by_name(std::string_view name) {
  if (name == "queue") return LambdaConstruction::kQueue;
  if (name == "bottomup") return LambdaConstruction::kBottomup;
  if (name == "alpha") return LambdaConstruction::kAlpha;
  if (name == "descent") return LambdaConstruction::kDescent;
  return {};
}

std::span<const TreeCatalogEntry> tree_catalog() { return kTreeCatalog; }

std::optional<TreeChoice> choose_tree(std::string_view name, const TreeParameters& parameters, std::string& error) {
  for (const TreeCatalogEntry& entry : kTreeCatalog) {
    const auto argument = match(name, entry.name);
    if (!argument) continue;
    Choice choice = entry.choose(*argument, parameters);
    if (!choice) break;
    choice->name = name;
    return choice;
  }
  error = "there is no tree \"" + std::string(name) + "\"; allowed are " + allowed_names() + " (K >= 1)";
  return {};
}

}  // namespace fibocast

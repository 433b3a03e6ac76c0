// The names of algorithms, as people write them, and what they stand for: one plain table, from which the planner's
// candidates, the help texts and the table in README.md come. For tools, not the core.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/plan.h"

namespace fibocast {

struct AlgorithmEntry {
  Operation operation;
  std::string_view name;         // "kary:K", "lambda:L", "share:ALPHA": K, L, ALPHA stand for a number
  std::string_view description;  // one line
  AlgorithmChoice choice;        // the parameter is one that can stand for K, L or ALPHA
  // Reductions (PROTOCOL 5; a test proves them): floats give the same bits at every rank; operators need not commute.
  bool same_bits = true;
  bool keeps_order = false;
  Rank least_ranks = 1;  // below, another algorithm is as good
};

std::span<const AlgorithmEntry> algorithm_catalog();

// Nothing for a name that this operation does not have; `error` is then a sentence that lists those that it has.
std::optional<AlgorithmChoice> choose_algorithm(Operation operation, std::string_view name, std::string& error);
// "ring", "kary:4", "lambda:2.5", "share:0.5", "fibo"; "planned" for kPlanned.
std::string algorithm_name(Operation operation, const AlgorithmChoice& choice);
const AlgorithmEntry* find_entry(Operation operation, const AlgorithmChoice& choice);

// Nothing if the operation can be run among so many ranks with this data; else one sentence.
std::string objection(const OperationShape& shape);

}  // namespace fibocast

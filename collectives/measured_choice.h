// What was measured to be the fastest on a cluster, as people and files write it. A plan prefers it to what is only
// predicted: where nodes share the processors of a host, predictions of like algorithms are nearer to each other than
// they are right.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/shape.h"
#include "collectives/types.h"

namespace fibocast {

// Of an operation of these bytes among just so many ranks; it stands for all of its size class (plan.h).
struct MeasuredChoice {
  Operation operation = Operation::kBarrier;
  Rank ranks = 1;
  std::uint64_t bytes = 0;
  AlgorithmChoice choice;
  bool operator==(const MeasuredChoice&) const = default;
};

// "barrier,16,0=sequential multicast,16,8=kary:3"; "" for none.
std::string to_text(std::span<const MeasuredChoice> choices);
// Nothing for what is no such text, or names an operation that plans do not choose for, or an algorithm that it does
// not have; `error` is then a sentence. At most kMostMeasuredChoices.
std::optional<std::vector<MeasuredChoice>> parse_measured_choices(std::string_view text, std::string& error);
// For an operation of these bytes; null: it was not measured.
const MeasuredChoice* find_measured(std::span<const MeasuredChoice> choices, Operation operation, Rank ranks,
                                    std::uint64_t bytes);

inline constexpr std::size_t kMostMeasuredChoices = 64;

}  // namespace fibocast

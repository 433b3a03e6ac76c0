#include "collectives/catalog_table.h"

#include <cstdio>
#include <sstream>
#include <utility>

#include "collectives/planner.h"
#include "collectives/schedule.h"

namespace fibocast {
namespace {

constexpr Rank kRanks = 19;
constexpr CostModel kMachine{.send = 27'000, .occupancy = 88'000, .send_per_byte = 20, .occupancy_per_byte = 20};  // ns
constexpr std::uint64_t kFew = 8;
constexpr std::uint64_t kMany = 64 * 1024;

PlanAnswer answer_for(Operation operation, std::uint64_t bytes) {
  OperationShape shape{.operation = operation, .ranks = kRanks, .total_bytes = bytes};
  if (operation == Operation::kBarrier) shape.total_bytes = 0;
  if (combines(operation)) shape.type = ElementType::kInt64, shape.op = CombineOperator::kSum;
  return answer({shape, kMachine});
}

// Microseconds.
std::string time_text(std::uint64_t nanoseconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", static_cast<double>(nanoseconds) / 1000);
  return text;
}

const Candidate* find(const PlanAnswer& answer, const AlgorithmChoice& choice) {
  for (const Candidate& c : answer.candidates)
    if (c.choice == choice) return &c;
  return nullptr;
}

std::string row(const AlgorithmEntry& entry, const PlanAnswer& few, const PlanAnswer& many) {
  const Candidate* a = find(few, entry.choice);
  const Candidate* b = find(many, entry.choice);
  std::ostringstream out;
  out << "| " << operation_name(entry.operation) << " | `" << algorithm_name(entry.operation, entry.choice) << "` | ";
  if (a == nullptr || b == nullptr || !a->objection.empty()) {
    out << (a == nullptr ? "" : a->objection) << " | | | | | |\n";  // no figures
    return std::move(out).str();
  }
  const bool no_data = entry.operation == Operation::kBarrier;
  out << a->forecast.rounds << " | " << a->forecast.messages << " | ";
  out << a->busiest_bytes << " | " << (no_data ? "" : std::to_string(b->busiest_bytes)) << " | ";
  out << time_text(a->predicted) << " | " << (no_data ? "" : time_text(b->predicted)) << " |\n";
  return std::move(out).str();
}

}  // namespace

std::string catalog_table() {
  std::ostringstream out;
  out << "| operation | algorithm | rounds | messages | busiest node, 8 B | 64 KiB | us, 8 B | 64 KiB |\n"
         "|---|---|--:|--:|--:|--:|--:|--:|\n";
  Operation operation = Operation::kBarrier;
  PlanAnswer few = answer_for(operation, kFew), many = answer_for(operation, kMany);
  for (const AlgorithmEntry& entry : algorithm_catalog()) {
    if (entry.operation != operation) {
      operation = entry.operation;
      few = answer_for(operation, kFew), many = answer_for(operation, kMany);
    }
    out << row(entry, few, many);
  }
  return std::move(out).str();
}

}  // namespace fibocast

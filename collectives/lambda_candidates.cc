#include "collectives/lambda_candidates.h"

#include <algorithm>
#include <span>

namespace fibocast {
namespace {

constexpr double kMoreThanAToken = 1 + 1.0 / 64;

// On both sides of 1 + receive / send, or the one at the end.
std::span<const std::uint16_t> around(double send, double receive) {
  const std::span<const std::uint16_t> all = planned_lambdas();
  const double lambda = (1 + receive / send) * kWholeLambda;
  const auto above = static_cast<std::size_t>(std::ranges::lower_bound(all, lambda) - all.begin());
  const std::size_t first = above > 0 ? above - 1 : 0;
  return all.subspan(first, std::min(above + 1, all.size()) - first);
}

// What is paid for each message of so many bytes.
struct MessageCosts {
  double send, latency, occupancy;

  double all() const { return send + latency + occupancy; }

  std::span<const std::uint16_t> down() const { return around(send, latency + occupancy); }
  std::span<const std::uint16_t> up() const { return around(occupancy, send + latency); }  // A30
};

MessageCosts costs_of(const CostModel& m, double bytes) {
  return {static_cast<double>(m.send) + bytes * static_cast<double>(m.send_per_byte), static_cast<double>(m.latency),
          static_cast<double>(m.occupancy) + bytes * static_cast<double>(m.occupancy_per_byte)};
}

}  // namespace

std::set<std::uint16_t> lambda_candidates(const CostModel& model, Operation operation, std::uint64_t bytes) {
  const MessageCosts token = costs_of(model, 0), message = costs_of(model, static_cast<double>(bytes));
  std::set<std::uint16_t> lambdas;
  if (message.all() < kMoreThanAToken * token.all()) return lambdas;
  const auto add = [&](std::span<const std::uint16_t> found, std::span<const std::uint16_t> of_tokens) {
    if (found.data() != of_tokens.data()) lambdas.insert(found.begin(), found.end());
  };
  if (operation == Operation::kMulticast || operation == Operation::kAllreduce) add(message.down(), token.down());
  if (combines(operation)) add(message.up(), token.up());
  return lambdas;
}

}  // namespace fibocast

// The model of Banikazemi et al. 1999: a network of workstations of several types. What a message costs on it, and how
// long a broadcast, a scatter and a gather take. Exact. Times in microseconds, as in the paper, until
// workstations_in_ticks() brings them to one common tick.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/rational.h"
#include "collectives/tree_heterogeneous.h"

namespace fibocast {

// m bytes cost the sender send + send_per_byte m, the receiver receive + receive_per_byte m (C1: S_c, S_m, R_c, R_m).
struct WorkstationType {
  std::string name;
  Rational send;
  Rational send_per_byte;
  Rational receive;
  Rational receive_per_byte;
};

// m bytes are latency + per_byte m on the wire (C1: X_c, X_m). No contention, everybody connected (C20).
struct WorkstationLink {
  Rational latency;
  Rational per_byte;
};

struct WorkstationCluster {
  std::vector<WorkstationType> types;
  std::vector<std::uint32_t> nodes;  // by rank: an index into types
  WorkstationLink link;
};

// X_c = 16 as printed, or 0: the receive costs of the paper's Table 1 already contain it, so that only kFolded gives
// its Table 2 and its crossovers (C3).
enum class WorkstationPreset : std::uint8_t { kLiteral, kFolded };

// Table 1 (C2).
WorkstationType slow_workstation();
WorkstationType fast_workstation();
WorkstationLink workstation_link(WorkstationPreset preset);
// "literal" or "folded".
std::optional<WorkstationPreset> parse_workstation_preset(std::string_view name);

// One node per letter, F or S, by rank: the paper's configurations "FFSS". Nothing, and a sentence in `error`, for any
// other letter or none.
std::optional<WorkstationCluster> workstations_of_letters(std::string_view letters, WorkstationPreset preset,
                                                          std::string& error);

// All below throw std::overflow_error if a result does not fit.
Rational send_time(const WorkstationType& type, std::uint64_t bytes);
Rational receive_time(const WorkstationType& type, std::uint64_t bytes);
Rational link_time(const WorkstationLink& link, std::uint64_t bytes);
// T_ptp (C1). A ping-pong takes T_ptp(a, b) + T_ptp(b, a) (C4).
Rational point_to_point_time(const WorkstationType& sender, const WorkstationType& receiver,
                             const WorkstationLink& link, std::uint64_t bytes);

// The costs of one message of some size: microseconds = ticks * tick. What a broadcast takes is completion() of
// collectives/tree_heterogeneous.h (C7).
struct TickedWorkstations {
  HeterogeneousCosts costs;
  Rational tick = 1;
  Rational time(std::uint64_t ticks) const { return tick * Rational(ticks); }
};
TickedWorkstations workstations_in_ticks(const WorkstationCluster& cluster, std::uint64_t bytes);

// When each rank has its part: the root sends to the others in ascending order (C9). Precondition: root is a rank.
std::vector<std::uint64_t> scatter_times(const HeterogeneousCosts& costs, Rank root);

// kLiteral: equation 12 as printed; the i-th message waits for i times on the wire (C10). kSerialised: the wire to the
// root carries one message after the other (C11); never later than kLiteral.
enum class GatherModel : std::uint8_t { kLiteral, kSerialised };

// By arrival: when the i-th message is at the root and when the root has taken it in.
struct GatherTimes {
  std::vector<std::uint64_t> arrive;
  std::vector<std::uint64_t> receive;
  std::uint64_t completion() const { return receive.empty() ? 0 : receive.back(); }
};
// Precondition: root is a rank.
GatherTimes gather_times(const HeterogeneousCosts& costs, Rank root, GatherModel model);

}  // namespace fibocast

// The schedules of all ranks of an operation together: to print, to read back, to check (validate.h) and to predict
// (predict.h). Made of the same rank schedules that nodes build. For tools, not the core.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/plan.h"

namespace fibocast {

// One rank's schedule that owns its memory.
struct RankPart {
  std::vector<Stage> stages;
  std::vector<Transfer> transfers;

  RankSchedule view() const { return {stages, transfers}; }
};

struct Schedule {
  OperationShape shape;
  std::vector<RankPart> ranks;  // shape.ranks of them, virtual: the root is 0
};

// More of one rank are refused.
inline constexpr std::size_t kMostTransfers = std::size_t{1} << 24;

// build_rank_schedule() with as much memory as it takes. Nothing for an invalid plan, me >= shape.ranks, or more than
// kMostTransfers.
std::optional<RankPart> build_rank_part(const Plan& plan, const OperationShape& shape, Rank me);
// All of them.
std::optional<Schedule> build_schedule(const Plan& plan, const OperationShape& shape);

// "barrier", "multicast".
std::string_view operation_name(Operation operation);
std::optional<Operation> operation_by_name(std::string_view name);

// The words of the text form below: "bit-blocks"; "T", "S", "TS"; "combine-left".
std::string_view carries_name(Carries carries);
std::string_view registers_name(std::uint8_t registers);
std::string_view on_receive_name(OnReceive on_receive);

// The first line of to_text(). Precondition: the choice is not kPlanned.
std::string to_text(const OperationShape& shape);
// One rank's stages, a line for each stage and transfer, as in to_text().
std::string to_text(const RankPart& part, Rank rank);
// A text that says everything and can be read back:
//   schedule multicast ranks 2 bytes 100 segment 60 algorithm fibo
//   rank 0
//     stage 0 after - repeat 2 not_before 0 waits_for_arrival
//       send 1 payload in stage 0
//   rank 1
//     stage 0 after - repeat 2 not_before 0
//       receive 0 payload in stage 0
// Other data: "partial T|S|TS" (registers), "blocks FIRST COUNT", "bit-blocks BIT", each followed by "combine-right" or
// "combine-left" where the receiver does not just store it. "in stage" names the stage in which the receiver waits. A
// line that begins with # is a remark. The first line of a divide or conquer ends with "type int64", if its elements
// are no bytes; "join" is said of a receive.
std::string to_text(const Schedule& schedule);
// Nothing for a text of another form; `error` then says which line.
std::optional<Schedule> parse_schedule(std::string_view text, std::string& error);

}  // namespace fibocast

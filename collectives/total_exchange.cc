#include "collectives/total_exchange.h"

#include <bit>

#include "collectives/exchange_steps.h"

namespace fibocast {

namespace {

constexpr std::uint8_t kCollectStage = 0;  // receives whatever comes, beside the sends

Transfer block(Rank peer, Rank number) {
  return {.peer = peer, .first_block = number, .blocks = 1, .stage = kCollectStage, .carries = Carries::kBlocks};
}

// Blocks 0 .. p - 1 are sent, by destination; block p + j came from rank j.
void write_collection(Rank ranks, Rank me, ScheduleWriter& out) {
  out.begin_stage({});
  for (Rank i = 1; i < ranks && out.ok(); ++i) {
    const auto from = static_cast<Rank>((std::uint64_t{me} + ranks - i) % ranks);
    out.receive(block(from, ranks + from));
  }
}

// The sender knows the block by its destination, the receiver by its source.
void write_pairwise(Rank ranks, Rank me, ScheduleWriter& out) {
  write_collection(ranks, me, out);
  out.begin_stage({.waits_for_arrival = true});
  for (Rank i = 1; i < ranks && out.ok(); ++i) {
    const auto to = static_cast<Rank>((std::uint64_t{me} + i) % ranks);
    out.send(block(to, to));
  }
}

bool write_phased(ExchangeKind kind, Nanoseconds step_ticks, Rank ranks, Rank me, ScheduleWriter& out) {
  const Rank leaves = std::bit_ceil(ranks);
  if (!is_exchange_size(leaves)) return false;
  write_collection(ranks, me, out);
  std::uint8_t stage = kNoStage;
  for (std::uint32_t i = 0; i < exchange_step_count(kind, leaves) && out.ok(); ++i) {
    const ExchangeStep step = exchange_step(kind, leaves, me, i);
    if (step.peer >= ranks) continue;
    out.begin_stage(
        {.not_before = (step.step - 1) * step_ticks, .after = stage, .waits_for_arrival = stage == kNoStage});
    out.send(block(step.peer, step.peer));
    stage = stage == kNoStage ? kCollectStage + 1 : static_cast<std::uint8_t>(stage + 1);
  }
  if (ranks == 1) out.begin_stage({.waits_for_arrival = true});
  return true;
}

// Blocks are relative: first block j is for rank me + j. Round k moves those with bit k of j set by 2^k ranks, so that
// in the end block j has come from rank me - j.
void write_bruck_exchange(Rank ranks, Rank me, ScheduleWriter& out) {
  out.begin_stage({.waits_for_arrival = true});
  std::uint8_t stage = 0;
  for (std::uint32_t bit = 0; (std::uint64_t{1} << bit) < ranks && out.ok(); ++bit) {
    const Rank distance = Rank{1} << bit;
    const auto next = static_cast<std::uint8_t>(stage + 1);
    Transfer t{.first_block = bit, .stage = next, .carries = Carries::kBitBlocks};
    t.peer = static_cast<Rank>((std::uint64_t{me} + distance) % ranks);
    out.send(t);
    out.begin_stage({.after = stage});
    t.peer = static_cast<Rank>((std::uint64_t{me} + ranks - distance) % ranks);
    out.receive(t);
    stage = next;
  }
}

}  // namespace

bool write_total_exchange(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out) {
  const auto ticks = static_cast<Nanoseconds>(plan.distribution.s);
  switch (shape.choice.algorithm) {
    case Algorithm::kBruck: write_bruck_exchange(shape.ranks, me, out); return true;
    case Algorithm::kPhasedConstant: return write_phased(ExchangeKind::kConstant, ticks, shape.ranks, me, out);
    case Algorithm::kPhasedExponential: return write_phased(ExchangeKind::kExponential, ticks, shape.ranks, me, out);
    case Algorithm::kPhasedXor: return write_phased(ExchangeKind::kExponentialXor, ticks, shape.ranks, me, out);
    default: write_pairwise(shape.ranks, me, out); return true;
  }
}

}  // namespace fibocast

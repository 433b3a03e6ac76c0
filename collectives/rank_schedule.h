// One rank's part of a collective operation: a short list of stages, as plain data in memory that the
// caller owns. Builders write it (ScheduleWriter), the engine executes it, the tools print and check it.
// Core: no heap, no exceptions.
#pragma once

#include <cstdint>
#include <span>

#include "collectives/types.h"

namespace fibocast {

// Enumerations of Transfer's bit-fields. Not scoped ones, because GCC 12 cannot brace-initialise bit-fields of these.
struct TransferWords {
  enum Carries : std::uint8_t {
    kToken = 0,      // nothing: its arrival is the message
    kPayload = 1,    // the operation's payload, or the segment of it that the stage's repetition names
    kPartial = 2,    // a partial result, the whole vector long: of the `registers`
    kBlocks = 3,     // a contiguous range of blocks, `first_block` .. `first_block + blocks - 1`
    kBitBlocks = 4,  // the blocks whose number has bit `first_block` set
  };
  enum OnReceive : std::uint8_t {
    kStore = 0,
    kCombineRight = 1,  // own, then received
    kCombineLeft = 2,   // received, then own
    kJoin = 3,          // own, then received, where own is there; stored elsewhere; zero where neither is
  };
};

// What a transfer carries: Carries::kToken, ..
using Carries = TransferWords::Carries;

// What the receiver of blocks does with them; of a partial result only kCombineLeft says more than its registers. The
// order matters to the last bit of a float.
using OnReceive = TransferWords::OnReceive;

// A rank's partial results (B22): T begins as its own vector, S is empty at first. A received partial is appended on
// the right of each register named, with kCombineLeft on the left; appending to an empty one stores it.
inline constexpr std::uint8_t kRegisterT = 1;
inline constexpr std::uint8_t kRegisterS = 2;

// One message to or from `peer`. Ranks in a schedule are virtual: the operation's root is 0. Packed into 14 bytes, so
// that the root of a million ranks, who has most of them, keeps its schedule in 1 KiB: fields are copied,
// `Rank{t.peer}`, where a reference would be bound to them.
struct [[gnu::packed, gnu::aligned(2)]] Transfer {
  Rank peer = kNoRank;
  std::uint32_t first_block = 0;
  std::uint32_t blocks = 0;
  std::uint8_t stage = 0;  // the stage in which the RECEIVER waits for it
  Carries carries : 3 = Carries::kToken;
  std::uint8_t registers : 2 = 0;  // kPartial: the one sent, or those appended to
  OnReceive on_receive : 2 = OnReceive::kStore;
};
static_assert(sizeof(Transfer) == 14);

inline constexpr std::uint8_t kNoStage = 0xff;
inline constexpr std::uint32_t kMaxRepetitions = 1u << 20;  // of a stage: segments of one payload

// Wait for all `receives`, combine them in this order, then send all `sends` in this order; `repeat` times
// (repetition k of a pipelined payload moves segment k). A stage starts when the stage `after` has ended. `not_before`
// is model time from the operation's start (0 = none).
struct Stage {
  std::uint32_t first_transfer = 0;  // index in transfers: the receives, then the sends
  std::uint32_t receives = 0;
  std::uint32_t sends = 0;
  std::uint32_t repeat = 1;
  Nanoseconds not_before = 0;
  std::uint8_t after = kNoStage;
  bool waits_for_arrival = false;  // starts only when the local participants have called
};

// A rank's schedule: views, not owner. Valid while the memory it was written into is.
struct RankSchedule {
  std::span<const Stage> stages;
  std::span<const Transfer> transfers;
  std::span<const Transfer> receives(const Stage& s) const { return transfers.subspan(s.first_transfer, s.receives); }
  std::span<const Transfer> sends(const Stage& s) const {
    return transfers.subspan(s.first_transfer + s.receives, s.sends);
  }
};

// Appends stages to bounded memory. A schedule that does not fit leaves ok() false: the operation is then
// refused at its start with the numbers; nothing is ever cut off silently.
class ScheduleWriter {
 public:
  ScheduleWriter(std::span<Stage> stages, std::span<Transfer> transfers) : stages_(stages), transfers_(transfers) {}

  // Begins a stage; the receives and sends that follow belong to it. All receives come before any send.
  void begin_stage(const Stage& stage) {
    if (stage_count_ == stages_.size() || stage_count_ == kNoStage) {  // stages are numbered in 8 bits
      ok_ = false;
      return;
    }
    stages_[stage_count_] = stage;
    stages_[stage_count_].first_transfer = transfer_count_;
    stages_[stage_count_].receives = stages_[stage_count_].sends = 0;
    ++stage_count_;
  }
  void receive(const Transfer& t) {
    if (put(t)) ++stages_[stage_count_ - 1].receives;
  }
  void send(const Transfer& t) {
    if (put(t)) ++stages_[stage_count_ - 1].sends;
  }
  bool ok() const { return ok_; }
  RankSchedule schedule() const { return {stages_.first(stage_count_), transfers_.first(transfer_count_)}; }

 private:
  bool put(const Transfer& t) {
    ok_ = ok_ && stage_count_ > 0 && transfer_count_ < transfers_.size();
    if (ok_) transfers_[transfer_count_++] = t;
    return ok_;
  }
  std::span<Stage> stages_;
  std::span<Transfer> transfers_;
  std::uint32_t stage_count_ = 0;
  std::uint32_t transfer_count_ = 0;
  bool ok_ = true;
};

}  // namespace fibocast

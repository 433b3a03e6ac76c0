#include "collectives/postal_allreduce.h"

#include <optional>

#include "collectives/postal_combine.h"

namespace fibocast {

namespace {

struct Variant {
  CombineClock clock;
  PostalCombine combine;
};

std::optional<Variant> variant(const TreeSpec& costs, Rank ranks, CombineDelay delay) {
  const auto clock = combine_clock(costs.s, costs.r, delay);
  if (!clock) return {};
  const auto combine = PostalCombine::make(ranks, clock->lambda);
  if (!combine) return {};
  return Variant{*clock, *combine};
}

// Both in rounds of their own clocks; at equal times the one with fewer rounds to wait for, which is kSend.
bool is_earlier(const Variant& a, const Variant& b) {
  return a.combine.time() * a.clock.numerator * b.clock.denominator <
         b.combine.time() * b.clock.numerator * a.clock.denominator;
}

std::optional<Variant> choose(const TreeSpec& costs, Rank ranks, Algorithm algorithm) {
  if (algorithm == Algorithm::kDelayReceive) return variant(costs, ranks, CombineDelay::kReceive);
  const auto send = variant(costs, ranks, CombineDelay::kSend);
  if (algorithm == Algorithm::kDelaySend) return send;
  const auto receive = variant(costs, ranks, CombineDelay::kReceive);
  return receive && (!send || is_earlier(*receive, *send)) ? receive : send;
}

// Writes the stages in the order of time: at the beginning of round x stands what was sent in round x - lambda.
class Rounds {
 public:
  Rounds(const Variant& v, const OperationShape& shape, Rank me, ScheduleWriter& out)
      : combine_(v.combine), clock_(v.clock), shape_(shape), me_(me), out_(out) {}

  void write() {
    auto sending = combine_.next_round(0), arriving = combine_.next_round(0);
    std::uint8_t stage = 0;
    if (!sending) out_.begin_stage({.waits_for_arrival = true});
    for (; arriving && out_.ok(); ++stage) {
      const std::uint64_t arrival = arriving->round + clock_.lambda;
      const std::uint64_t now = sending && sending->round < arrival ? sending->round : arrival;
      begin(stage, now);
      if (arrival == now) receive(*arriving, stage), arriving = combine_.next_round(arriving->round);
      if (sending && sending->round == now) send(*sending), sending = combine_.next_round(sending->round);
    }
  }

 private:
  void begin(std::uint8_t stage, std::uint64_t now) {
    const bool eager = shape_.choice.algorithm == Algorithm::kCombineEager;
    const auto last = static_cast<std::uint8_t>(stage - 1);
    out_.begin_stage({.not_before = eager ? 0 : not_before(now),
                      .after = stage == 0 ? kNoStage : last,
                      .waits_for_arrival = stage == 0});
  }

  // A round may lie beyond those that CombineClock answers for: only messages under way then.
  Nanoseconds not_before(std::uint64_t round) const {
    return static_cast<Nanoseconds>(((round - 1) * clock_.numerator + clock_.denominator - 1) / clock_.denominator);
  }

  // The stages before the one that begins with round `round`.
  std::uint8_t stage_of(std::uint64_t round) const {
    std::uint8_t stage = 0;
    for (auto r = combine_.next_round(0); r; r = combine_.next_round(r->round)) {
      stage += r->round < round;
      const bool meets_a_send = sends_in(r->round + clock_.lambda);
      stage += r->round + clock_.lambda < round && !meets_a_send;
    }
    return stage;
  }
  bool sends_in(std::uint64_t round) const {
    return round <= combine_.rounds() && combine_.round(static_cast<std::uint32_t>(round)).count > 0;
  }

  void send(const CombineRound& r) {
    Transfer t = what(r.sends_s ? kRegisterS : kRegisterT);
    t.peer = combine_.target(r, me_);
    t.stage = stage_of(r.round + clock_.lambda);
    out_.send(t);
  }
  void receive(const CombineRound& r, std::uint8_t stage) {
    Transfer t = what(kRegisterT | kRegisterS);
    t.peer = combine_.source(r, me_);
    t.stage = stage;
    out_.receive(t);
  }
  Transfer what(std::uint8_t registers) const {
    if (shape_.operation == Operation::kBarrier) return {};
    return {.carries = Carries::kPartial, .registers = registers};
  }

  const PostalCombine& combine_;
  const CombineClock& clock_;
  const OperationShape& shape_;
  Rank me_;
  ScheduleWriter& out_;
};

}  // namespace

bool write_postal_combine(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out) {
  const auto v = choose(plan.distribution, shape.ranks, shape.choice.algorithm);
  if (!v) return false;
  Rounds(*v, shape, me, out).write();
  return true;
}

}  // namespace fibocast

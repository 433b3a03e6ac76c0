#include "collectives/halving.h"

#include <bit>
#include <utility>

#include "collectives/paired_ranks.h"

namespace fibocast {

namespace {

// The stages follow each other; a stage begins with what the step before it brings.
class Halving {
 public:
  Halving(Rank ranks, Rank me, ScheduleWriter& out)
      : out_(out), me_(me), paired_(ranks, me), blocks_(paired_.count()) {}

  void write_reduce() {
    out_.begin_stage({.waits_for_arrival = true});
    if (paired_.is_over()) {
      give();
      step_ = static_cast<std::uint8_t>(kFirstStep + std::bit_width(blocks_) - 1);
    } else {
      work();
    }
    if (me_ == 0 || !paired_.is_over()) collect();
  }

  void write_allreduce() {
    out_.begin_stage({.waits_for_arrival = true});
    if (paired_.is_over()) {
      give(), next(), next();
      return receive(me_ + 1, 0, blocks_, 2, OnReceive::kStore);
    }
    work();
    redouble(paired_.number(), 1);
    if (paired_.works_for_two()) send(me_ - 1, 0, blocks_, 1 + 1);
  }

 private:
  void give() { send(me_ + 1, 0, blocks_, 1); }

  // In the end a rank has the block of its number.
  void work() {
    if (paired_.works_for_two()) next(), receive(me_ - 1, 0, blocks_, 1, OnReceive::kCombineLeft);
    Rank first = 0, count = blocks_;
    halve(first, count);
  }

  // Up a binomial tree. Where rank 0 is over it takes its neighbour's place in it.
  void collect() {
    const Rank number = paired_.number();
    if (me_ != 0 && number == 0) return send(0, 0, 1, step_);
    bool gets_its_own = paired_.is_over();
    for (Rank distance = 1; distance < blocks_; distance *= 2, ++step_) {
      const Rank partner = paired_.partner(distance);
      if ((number & distance) != 0) return send(number == distance ? 0 : partner, number, distance, step_);
      begin(step_);
      if (std::exchange(gets_its_own, false)) receive(me_ + 1, 0, 1, step_, OnReceive::kStore);
      receive(partner, number + distance, distance, step_, OnReceive::kStore);
    }
  }

  void halve(Rank& first, Rank& count) {
    std::uint8_t step = kFirstStep;
    for (Rank distance = blocks_ / 2; distance > 0; distance /= 2, ++step) {
      const bool upper = paired_.is_upper(distance);
      count /= 2;
      const Rank partner = paired_.partner(distance);
      send(partner, upper ? first : first + count, count, step);
      first = upper ? first + count : first;
      begin(step);
      receive(partner, first, count, step, upper ? OnReceive::kCombineLeft : OnReceive::kCombineRight);
    }
    step_ = step;
  }

  void redouble(Rank first, Rank count) {
    for (Rank distance = 1; distance < blocks_; distance *= 2, ++step_) {
      const Rank partner = paired_.partner(distance);
      send(partner, first, count, step_);
      const Rank other = first ^ count;
      begin(step_);
      receive(partner, other, count, step_, OnReceive::kStore);
      first &= ~count, count *= 2;
    }
  }

  void next() { begin(static_cast<std::uint8_t>(stage_ + 1)); }
  // All ranks number their stages alike; what a rank has no part in are empty stages.
  void begin(std::uint8_t stage) {
    while (stage_ < stage && out_.ok()) out_.begin_stage({.after = stage_}), ++stage_;
  }
  void send(Rank peer, Rank first, Rank count, std::uint8_t stage) { out_.send(part(peer, first, count, stage)); }
  void receive(Rank peer, Rank first, Rank count, std::uint8_t stage, OnReceive how) {
    Transfer t = part(peer, first, count, stage);
    t.on_receive = how;
    out_.receive(t);
  }
  static Transfer part(Rank peer, Rank first, Rank count, std::uint8_t stage) {
    return {.peer = peer, .first_block = first, .blocks = count, .stage = stage, .carries = Carries::kBlocks};
  }

  static constexpr std::uint8_t kFirstStep = 2;  // 1: the vectors of those over
  ScheduleWriter& out_;
  Rank me_;
  PairedRanks paired_;
  Rank blocks_;  // as many as exchange
  std::uint8_t stage_ = 0;
  std::uint8_t step_ = kFirstStep;
};

}  // namespace

void write_halving_reduce(Rank ranks, Rank me, ScheduleWriter& out) { Halving(ranks, me, out).write_reduce(); }
void write_halving_allreduce(Rank ranks, Rank me, ScheduleWriter& out) { Halving(ranks, me, out).write_allreduce(); }

}  // namespace fibocast

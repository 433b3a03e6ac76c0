#include "collectives/doubling.h"

#include "collectives/paired_ranks.h"

namespace fibocast {

namespace {

// The stages follow each other; a stage begins with what the round before it brings.
class Doubling {
 public:
  Doubling(Rank ranks, Rank me, ScheduleWriter& out) : out_(out), me_(me), paired_(ranks, me) {}

  void write() {
    out_.begin_stage({.waits_for_arrival = true});
    if (paired_.is_over()) return give_and_take();
    if (paired_.some_are_over()) next();
    if (paired_.works_for_two()) receive(me_ - 1, kRegisterT, OnReceive::kCombineLeft);
    for (Rank distance = 1; distance < paired_.count() && out_.ok(); distance *= 2) exchange(distance);
    if (paired_.works_for_two()) send(me_ - 1, kStageOfResult);
  }

 private:
  void give_and_take() {
    send(me_ + 1, 1);
    next();
    receive(me_ + 1, kRegisterS, OnReceive::kStore);
  }
  void exchange(Rank distance) {
    const Rank partner = paired_.partner(distance);
    send(partner, static_cast<std::uint8_t>(stage_ + 1));
    next();
    receive(partner, kRegisterT, paired_.is_upper(distance) ? OnReceive::kCombineLeft : OnReceive::kCombineRight);
  }

  void next() { out_.begin_stage({.after = stage_}), ++stage_; }
  void send(Rank peer, std::uint8_t stage) {
    out_.send({.peer = peer, .stage = stage, .carries = Carries::kPartial, .registers = kRegisterT});
  }
  void receive(Rank peer, std::uint8_t into, OnReceive how) {
    out_.receive({.peer = peer, .stage = stage_, .carries = Carries::kPartial, .registers = into, .on_receive = how});
  }

  static constexpr std::uint8_t kStageOfResult = 1;  // of a rank over
  ScheduleWriter& out_;
  Rank me_;
  PairedRanks paired_;
  std::uint8_t stage_ = 0;
};

}  // namespace

void write_doubling(Rank ranks, Rank me, ScheduleWriter& out) { Doubling(ranks, me, out).write(); }

}  // namespace fibocast

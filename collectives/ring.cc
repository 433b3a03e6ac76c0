#include "collectives/ring.h"

namespace fibocast {

namespace {

// One step: what came from the left goes on to the right in the next stage.
class Ring {
 public:
  Ring(Rank ranks, Rank me, ScheduleWriter& out) : ranks_(ranks), me_(me), out_(out) {}

  Rank wrap(std::uint64_t block) const { return static_cast<Rank>(block % ranks_); }
  void send(Rank block, std::uint8_t stage) { out_.send(part(wrap(std::uint64_t{me_} + 1), block, stage)); }
  void receive(Rank block, std::uint8_t stage, OnReceive how) {
    Transfer t = part(wrap(std::uint64_t{me_} + ranks_ - 1), block, stage);
    t.on_receive = how;
    out_.receive(t);
  }

 private:
  static Transfer part(Rank peer, Rank block, std::uint8_t stage) {
    return {.peer = peer, .first_block = block, .blocks = 1, .stage = stage, .carries = Carries::kBlocks};
  }
  Rank ranks_, me_;
  ScheduleWriter& out_;
};

}  // namespace

void write_ring_collection(Rank ranks, Rank me, Rank own, std::uint8_t last, ScheduleWriter& out) {
  Ring ring(ranks, me, out);
  for (Rank step = 1; step < ranks && out.ok(); ++step) {
    const auto stage = static_cast<std::uint8_t>(last + step);
    ring.send(ring.wrap(std::uint64_t{own} + ranks - (step - 1)), stage);
    out.begin_stage({.after = static_cast<std::uint8_t>(stage - 1)});
    ring.receive(ring.wrap(std::uint64_t{own} + ranks - step), stage, OnReceive::kStore);
  }
}

std::uint8_t write_ring_reduction(Rank ranks, Rank me, ScheduleWriter& out) {
  Ring ring(ranks, me, out);
  out.begin_stage({.waits_for_arrival = true});
  std::uint8_t stage = 0;
  for (Rank step = 1; step < ranks && out.ok(); ++step) {
    ++stage;
    ring.send(ring.wrap(std::uint64_t{me} + ranks - (step - 1)), stage);
    out.begin_stage({.after = static_cast<std::uint8_t>(stage - 1)});
    ring.receive(ring.wrap(std::uint64_t{me} + ranks - step), stage, OnReceive::kCombineLeft);
  }
  return stage;
}

}  // namespace fibocast

#include "collectives/collection.h"

#include <algorithm>
#include <bit>

#include "collectives/block_transfer.h"

namespace fibocast {

namespace {

void exchange_with_partners(Rank ranks, Rank me, std::uint8_t stage, ScheduleWriter& out) {
  for (Rank distance = 1; distance < ranks && out.ok(); distance *= 2, ++stage) {
    const Rank partner = me ^ distance;
    const auto next = static_cast<std::uint8_t>(stage + 1);
    out.send(block_transfer(partner, me & ~(distance - 1), distance, next));
    out.begin_stage({.after = stage});
    out.receive(block_transfer(partner, partner & ~(distance - 1), distance, next));
  }
}

// What a rank has goes on to the ranks before it. Blocks from 0 on, behind the last one, have a stage of their own: of
// one peer a stage waits for one message.
class FromBehind {
 public:
  FromBehind(Rank ranks, Rank me, std::uint8_t last, ScheduleWriter& out)
      : ranks_(ranks), me_(me), stage_(last), out_(out) {}

  void write() {
    for (Rank distance = 1; distance < ranks_ && out_.ok(); distance = 2 * distance) {
      const Rank to = wrap(me_ + std::uint64_t{ranks_} - distance), from = wrap(me_ + std::uint64_t{distance});
      const Run sent = run_from(me_, distance), received = run_from(from, distance);
      send(to, me_, sent.to_the_end, 1), send(to, 0, sent.from_the_beginning, 2);
      receive(from, from, received.to_the_end), receive(from, 0, received.from_the_beginning);
      if (distance > ranks_ / 2) return;
    }
  }

 private:
  struct Run {
    Rank to_the_end, from_the_beginning;
  };

  Rank wrap(std::uint64_t rank) const { return static_cast<Rank>(rank % ranks_); }
  // The blocks that are passed on at this distance.
  Run run_from(Rank first, Rank distance) const {
    const Rank count = std::min(distance, ranks_ - distance), to_the_end = std::min(count, ranks_ - first);
    return {to_the_end, count - to_the_end};
  }
  void send(Rank to, Rank first, Rank count, std::uint8_t stages_on) {
    if (count > 0) out_.send(block_transfer(to, first, count, static_cast<std::uint8_t>(stage_ + stages_on)));
  }
  void receive(Rank from, Rank first, Rank count) {
    out_.begin_stage({.after = stage_}), ++stage_;
    if (count > 0) out_.receive(block_transfer(from, first, count, stage_));
  }

  Rank ranks_, me_;
  std::uint8_t stage_;
  ScheduleWriter& out_;
};

}  // namespace

void write_pairwise_collection(Rank ranks, Rank me, std::uint8_t last, ScheduleWriter& out) {
  const auto next = static_cast<std::uint8_t>(last + 1);
  for (Rank i = 1; i < ranks && out.ok(); ++i)
    out.send(block_transfer(static_cast<Rank>((std::uint64_t{me} + i) % ranks), me, 1, next));
  out.begin_stage({.after = last});
  for (Rank i = 1; i < ranks && out.ok(); ++i) {
    const auto from = static_cast<Rank>((std::uint64_t{me} + ranks - i) % ranks);
    out.receive(block_transfer(from, from, 1, next));
  }
}

void write_doubling_collection(Rank ranks, Rank me, std::uint8_t last, ScheduleWriter& out) {
  if (std::has_single_bit(ranks)) return exchange_with_partners(ranks, me, last, out);
  FromBehind(ranks, me, last, out).write();
}

}  // namespace fibocast

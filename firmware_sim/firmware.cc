#include "firmware_sim/firmware.h"

#include <algorithm>
#include <utility>

#include "collectives/check.h"

namespace fibocast {

Firmware::Firmware(const OperationShape& shape, RankPrograms programs, NodeTable nodes)
    : shape_(shape),
      programs_(std::move(programs)),
      nodes_(std::move(nodes)),
      ports_(programs_.ranks()),
      active_(programs_.ranks()),
      done_(programs_.ranks()),
      unfinished_(programs_.ranks()) {}

bool Firmware::call(Rank rank) {
  Engine engine = programs_.engine(rank);
  engine.arrive(0);
  return settle(rank, engine, 0);
}

bool Firmware::receive(const TimedEvent& message, Ticks now) {
  Engine engine = programs_.engine(message.rank);
  const std::uint32_t index = engine.find_receive(0, message.source, message.stage);
  if (index == Engine::kNone || engine.receive(0, index, message.repetition) != Engine::Receipt::kAccepted) {
    failed_ = true;
    return false;
  }
  return settle(message.rank, engine, now);
}

// Combining takes no time. A rank is done when its last stage has ended, which is when its sends were requested.
bool Firmware::settle(Rank rank, Engine& engine, Ticks now) {
  Engine::Send next;
  while (engine.next_combine(0, next)) engine.commit_combine(0);
  if (!engine.finished(0)) return engine.next_send(0, next);
  if (done_[rank]) return false;
  done_[rank] = true;
  active_[rank] = std::max(now, static_cast<Ticks>(engine.latest_not_before(0)));
  --unfinished_;
  return false;
}

Occupancy Firmware::occupy(Rank rank, std::uint64_t bytes, Ticks now) {
  const PortCosts& costs = nodes_.of(rank);
  Ticks& free = nodes_.ports == Ports::kShared ? ports_[rank].send_free : ports_[rank].receive_free;
  const Ticks begins = std::max(free, now);
  free = begins + costs.occupancy + bytes * costs.occupancy_per_byte;
  return {begins, free};
}

bool Firmware::next_send(Rank rank, Outgoing& out) {
  Engine::Send next;
  if (!programs_.engine(rank).next_send(0, next)) return false;
  out = {.target = next.transfer.peer,
         .bytes = transfer_bytes(shape_, next.transfer, next.repetition),
         .transfer = next.index,
         .repetition = next.repetition,
         .stage = next.transfer.stage,
         .not_before = static_cast<Ticks>(std::max<Nanoseconds>(next.not_before, 0))};
  return true;
}

void Firmware::send(Rank rank, Outgoing& out, Ticks extra, Ticks now) {
  const PortCosts& costs = nodes_.of(rank);
  Ticks& free = ports_[rank].send_free;
  out.begins = std::max(free, now);
  free = out.departs = out.begins + costs.send + out.bytes * costs.send_per_byte + extra;
  Engine engine = programs_.engine(rank);
  Engine::Send next;
  check(engine.next_send(0, next));
  engine.commit_send(0, next);
  settle(rank, engine, now);
}

std::uint64_t Firmware::bytes_of(const TimedEvent& message) const {
  return transfer_bytes(shape_, programs_.schedule(message.source).transfers[message.transfer], message.repetition);
}

}  // namespace fibocast

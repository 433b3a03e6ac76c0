#include "runtime/node/local_data.h"

#include <algorithm>
#include <bit>

#include "collectives/check.h"
#include "collectives/divide.h"
#include "runtime/node/slots.h"

namespace fibocast::local_data {

namespace {

// The virtual rank.
Rank me_of(const NodeState& state, std::uint32_t slot) {
  const GroupState& g = state.groups[slots::group_of(state, slot)];
  return groups::virtual_rank(g, g.rank, state.slots[slot].root);
}

bool room(NodeState& state, std::uint32_t works) {
  if (state.local_work.size() - state.works >= works) return true;
  state.again = true;
  return false;
}

void put(NodeState& state, const LocalWork& work) {
  if (work.out.length == 0 || work.runs == 0) return;
  check(state.works < state.local_work.size());
  state.local_work[(state.first_work + state.works++) % state.local_work.size()] = work;
}

void copy(NodeState& state, PayloadRange from, PayloadRange to) { put(state, {.right = from, .out = to}); }

PayloadRange at(const Slot& s, std::uint64_t offset, std::uint64_t length) { return {s.buffer, offset, length}; }

// Memory for the oldest generation never waits for what is collected after it (PROTOCOL 7).
std::optional<BufferId> reserve(NodeState& state, std::uint32_t slot) {
  const Slot& s = state.slots[slot];
  if (slots::is_small(state, slot)) return state.buffers->reserve(s.layout.bytes, BufferUse::kEager);
  std::optional<BufferId> buffer;
  if (s.generation == state.groups[slots::group_of(state, slot)].base)
    buffer = state.buffers->reserve(s.layout.bytes, BufferUse::kIncoming);
  return buffer ? buffer : state.buffers->reserve(s.layout.bytes, BufferUse::kAhead);
}

bool is_leaf(const NodeState& state, std::uint32_t slot) {
  return std::ranges::none_of(state.engine->schedule(slot).stages, [](const Stage& stage) { return stage.sends > 0; });
}

// A multicast's payload that this rank does not pass on is for its one caller alone. What cannot be told now is only
// copied once more.
void tell_of_place(NodeState& state, std::uint32_t slot) {
  const Slot& s = state.slots[slot];
  const bool one_reader = s.operation == Operation::kMulticast && s.first_call != kNoRequest &&
                          state.groups[slots::group_of(state, slot)].participants == 1;
  if (!one_reader || state.place_buffer != kNoBuffer || s.layout.bytes != s.total_bytes) return;
  const Request& r = state.requests->at(s.first_call);
  if (!r.call.has_place || !is_leaf(state, slot)) return;
  state.place_buffer = s.buffer, state.place_cookie = r.call.cookie;
}

// `count` blocks of `bytes` from the input, beginning with number `first` of them, to blocks `to` ..
void place_blocks(NodeState& state, const Slot& s, const OperationShape& shape, Rank first, Rank count, Rank to) {
  const PayloadRange from{s.input, first * s.total_bytes, count * s.total_bytes};
  copy(state, from, at(s, block_place(shape, s.layout, to), from.length));
}

void place(NodeState& state, std::uint32_t slot, const OperationShape& shape, Rank me) {
  Slot& s = state.slots[slot];
  const Rank p = shape.ranks;
  switch (shape.operation) {
    case Operation::kBarrier:
    case Operation::kMulticast: return;  // the payload is the slot's memory
    case Operation::kReduce:
    case Operation::kAllreduce: return copy(state, {s.input, 0, s.total_bytes}, at(s, s.layout.work, s.total_bytes));
    case Operation::kGather: return place_blocks(state, s, shape, 0, 1, me);
    case Operation::kAllgather: return place_blocks(state, s, shape, 0, 1, has_relative_blocks(shape) ? 0 : me);
    case Operation::kScatter:  // block v is that of the real rank v + root
      place_blocks(state, s, shape, s.root, p - s.root, 0);
      return place_blocks(state, s, shape, 0, s.root, p - s.root);
    case Operation::kDivide:
    case Operation::kConquer:  // a rank's share begins where its memory does
      return copy(state, {s.input, 0, input_bytes(shape, me)}, at(s, s.layout.work, input_bytes(shape, me)));
    case Operation::kAlltoall: break;
  }
  if (!has_relative_blocks(shape)) {
    place_blocks(state, s, shape, 0, p, 0);
    return place_blocks(state, s, shape, me, 1, p + me);
  }
  place_blocks(state, s, shape, me, p - me, 0);
  place_blocks(state, s, shape, 0, me, p - me);
}

// A new partial result beside `mine`, which may be empty. Earlier ones stay as they are: they may still be on the way.
std::uint64_t append(NodeState& state, const Slot& s, std::uint64_t mine, std::uint64_t received, bool left,
                     std::uint64_t to) {
  if (mine == kNoData) return received;
  put(state, {.op = s.op,
              .type = s.type,
              .left = at(s, left ? received : mine, s.total_bytes),
              .right = at(s, left ? mine : received, s.total_bytes),
              .out = at(s, to, s.total_bytes)});
  return to;
}

void combine_partial(NodeState& state, Slot& s, const Transfer& t, std::uint64_t received) {
  const bool both = t.registers == (kRegisterT | kRegisterS), left = t.on_receive == OnReceive::kCombineLeft;
  if ((t.registers & kRegisterT) != 0)
    s.register_t = append(state, s, s.register_t, received, left, both ? received + s.total_bytes : received);
  if ((t.registers & kRegisterS) != 0) s.register_s = append(state, s, s.register_s, received, left, received);
}

// A child's share of a conquer. It begins before the rank's own ends, or behind it with a gap that nobody has.
void join(NodeState& state, const Slot& s, const OperationShape& shape, Rank me, const Transfer& t,
          std::uint64_t received) {
  const std::uint64_t size = element_bytes(shape.type);
  const Share own = kept_share(shape, me, t.peer);
  const std::uint32_t end = t.first_block + t.blocks, begin = std::max(own.end(), std::uint32_t{t.first_block});
  const auto place = [&](std::uint32_t from, std::uint32_t to) {
    return at(s, block_place(shape, s.layout, from), (to - from) * size);
  };
  if (own.end() < t.first_block) {
    const PayloadRange gap = place(own.end(), t.first_block);
    put(state, {.clears = true, .right = gap, .out = gap});
  }
  const std::uint64_t both = (begin - t.first_block) * size;
  const PayloadRange overlap = place(t.first_block, begin);
  put(state, {.op = s.op, .type = s.type, .left = overlap, .right = at(s, received, both), .out = overlap});
  copy(state, at(s, received + both, (end - begin) * size), place(begin, end));
}

void combine_blocks(NodeState& state, std::uint32_t slot, const OperationShape& shape, const Transfer& t,
                    std::uint64_t received) {
  const Slot& s = state.slots[slot];
  if (t.on_receive == OnReceive::kJoin) return join(state, s, shape, me_of(state, slot), t, received);
  const PayloadRange own = at(s, block_place(shape, s.layout, t.first_block), transfer_bytes(shape, t, 0));
  const PayloadRange other = at(s, received, own.length);
  const bool own_first = t.on_receive == OnReceive::kCombineRight;
  put(state,
      {.op = s.op, .type = s.type, .left = own_first ? own : other, .right = own_first ? other : own, .out = own});
}

// Blocks with a bit set come in runs of 2^bit, every 2^(bit + 1); the last run may be cut off. Between their places and
// one contiguous piece.
void move_bit_blocks(NodeState& state, const Slot& s, const OperationShape& shape, const Transfer& t,
                     std::uint64_t piece, bool packs) {
  const std::uint64_t run = std::uint64_t{1} << t.first_block, all = shape.ranks, block = s.total_bytes;
  const std::uint64_t whole = all / (2 * run);
  const std::uint64_t rest = all % (2 * run) > run ? all % (2 * run) - run : 0;
  const std::uint64_t places = s.layout.work + run * block;
  const auto step = static_cast<std::int64_t>(2 * run * block), length = static_cast<std::int64_t>(run * block);
  const auto move = [&](std::uint64_t place, std::uint64_t packed, std::uint64_t bytes, std::uint64_t runs) {
    LocalWork w{.right = at(s, packs ? place : packed, bytes), .out = at(s, packs ? packed : place, bytes)};
    w.runs = static_cast<std::uint32_t>(runs);
    w.right_step = packs ? step : length, w.out_step = packs ? length : step;
    put(state, w);
  };
  move(places, piece, run * block, whole);
  move(places + whole * 2 * run * block, piece + whole * run * block, rest * block, 1);
}

// Where the result lies when it needs no reordering.
std::uint64_t result_place(const Slot& s, const OperationShape& shape, Rank me) {
  const Algorithm a = shape.choice.algorithm;
  switch (shape.operation) {
    case Operation::kReduce: return is_cut_into_blocks(shape) ? s.layout.work : s.register_t;
    case Operation::kAllreduce:
      if (is_cut_into_blocks(shape)) return s.layout.work;
      if (a == Algorithm::kDoubling && s.register_s != kNoData) return s.register_s;
      return a == Algorithm::kTrees && me != 0 ? s.layout.payload : s.register_t;
    case Operation::kScatter: return block_place(shape, s.layout, me);
    case Operation::kAlltoall: return block_place(shape, s.layout, shape.ranks);
    default: return s.layout.work;
  }
}

void reorder(NodeState& state, const Slot& s, const OperationShape& shape, Rank me) {
  const std::uint64_t p = shape.ranks, block = s.total_bytes, work = s.layout.work, output = s.layout.output;
  // Block j of the work belongs to rank j + first (mod p).
  const std::uint64_t first = shape.operation == Operation::kGather ? s.root : me;
  if (shape.operation != Operation::kAlltoall) {
    copy(state, at(s, work, (p - first) * block), at(s, output + first * block, (p - first) * block));
    return copy(state, at(s, work + (p - first) * block, first * block), at(s, output, first * block));
  }
  // Block j has come from rank me - j: backwards, in two runs.
  const auto back = -static_cast<std::int64_t>(block), on = static_cast<std::int64_t>(block);
  put(state, {.right = at(s, work + me * block, block),
              .out = at(s, output, block),
              .runs = me + 1,
              .right_step = back,
              .out_step = on});
  put(state, {.right = at(s, work + (p - 1) * block, block),
              .out = at(s, output + (me + 1) * block, block),
              .runs = static_cast<std::uint32_t>(p - 1 - me),
              .right_step = back,
              .out_step = on});
}

}  // namespace

void lay_out_slot(NodeState& state, std::uint32_t slot) {
  Slot& s = state.slots[slot];
  const RankSchedule schedule = state.engine->schedule(slot);
  s.layout = lay_out(slots::shape_of(state, slot), schedule, me_of(state, slot), s.root, state.offsets);
  s.register_t = s.layout.work, s.register_s = kNoData;
  const bool has_data = s.operation != Operation::kBarrier;
  const auto transfers = slots::transfer_states(state, slot);
  for (const Stage& stage : schedule.stages)
    for (std::uint32_t i = stage.first_transfer; i < stage.first_transfer + stage.receives + stage.sends; ++i)
      transfers[i] = TransferState{.offset = has_data ? state.offsets[i] : 0};
}

bool has_memory(NodeState& state, std::uint32_t slot) {
  Slot& s = state.slots[slot];
  if (!s.shape_known || s.layout.bytes == 0 || s.buffer != kNoBuffer) return s.shape_known;
  if (s.operation == Operation::kMulticast && slots::is_source(state, slot)) return s.called;  // its payload is empty
  const std::optional<BufferId> buffer = reserve(state, slot);
  if (buffer) s.buffer = *buffer, tell_of_place(state, slot);
  if (!buffer) state.buffers_wanted = true;
  return buffer.has_value();
}

bool place_input(NodeState& state, std::uint32_t slot) {
  Slot& s = state.slots[slot];
  if (!s.called || state.engine->arrived(slot)) return true;
  if (!room(state, 3)) return false;
  if (s.input != kNoBuffer) {
    place(state, slot, slots::shape_of(state, slot), me_of(state, slot));
    state.buffers->release(s.input);  // polled after the work is
    s.input = kNoBuffer;
  }
  state.engine->arrive(slot);
  return true;
}

bool combine(NodeState& state, std::uint32_t slot) {
  Slot& s = state.slots[slot];
  Engine::Send next;
  while (state.engine->next_combine(slot, next)) {
    if (!room(state, 2)) return false;
    const OperationShape shape = slots::shape_of(state, slot);
    const std::uint64_t received = slots::transfer_states(state, slot)[next.index].offset;
    switch (next.transfer.carries) {
      case Carries::kPartial: combine_partial(state, s, next.transfer, received); break;
      case Carries::kBitBlocks: move_bit_blocks(state, s, shape, next.transfer, received, false); break;
      default: combine_blocks(state, slot, shape, next.transfer, received); break;
    }
    state.engine->commit_combine(slot);
  }
  return true;
}

bool prepare_send(NodeState& state, std::uint32_t slot, std::uint32_t index) {
  Slot& s = state.slots[slot];
  const Transfer t = state.engine->schedule(slot).transfers[index];
  if (t.carries == Carries::kToken) return true;
  TransferState& transfer = slots::transfer_states(state, slot)[index];
  const OperationShape shape = slots::shape_of(state, slot);
  if (t.carries == Carries::kPartial) transfer.offset = t.registers == kRegisterS ? s.register_s : s.register_t;
  if (t.carries == Carries::kPayload && combines(shape.operation) && me_of(state, slot) == 0)
    transfer.offset = s.register_t;  // the reduction's root distributes what it has combined
  if (t.carries != Carries::kBitBlocks) return true;
  if (!room(state, 2)) return false;
  move_bit_blocks(state, s, shape, t, transfer.offset, true);
  return true;
}

bool prepare_result(NodeState& state, std::uint32_t slot) {
  Slot& s = state.slots[slot];
  if (s.has_result || s.operation == Operation::kBarrier) return true;
  const OperationShape shape = slots::shape_of(state, slot);
  const Rank me = me_of(state, slot);
  s.result = needs_reordering(shape, me, s.root) ? s.layout.output : result_place(s, shape, me);
  if (s.buffer != kNoBuffer && needs_reordering(shape, me, s.root)) {
    if (!room(state, 2)) return false;
    reorder(state, s, shape, me);
  }
  return s.has_result = true;
}

bool poll_work(NodeState& state, LocalWork& out) {
  if (state.works == 0) return false;
  out = state.local_work[state.first_work];
  state.first_work = static_cast<std::uint32_t>((state.first_work + 1) % state.local_work.size());
  --state.works;
  return true;
}

}  // namespace fibocast::local_data

#include "collectives/rank_data.h"

#include <algorithm>
#include <utility>

#include "collectives/divide.h"

namespace fibocast {

namespace {

void append(SymbolicValue& to, const SymbolicValue& value, bool left) {
  if (to.empty())
    to = value;
  else
    to = left ? SymbolicValue::combined(value, to) : SymbolicValue::combined(to, value);
}

using Runs = std::vector<std::pair<Rank, Rank>>;

// By element: the ranks that bring it to a conquer, ascending.
std::vector<Runs> bringers(const OperationShape& shape) {
  std::vector<Runs> all(block_count(shape));
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    const Share share = final_share(shape, rank);
    for (std::uint32_t e = share.first; e < share.end(); ++e) {
      if (!all[e].empty() && all[e].back().second == rank)
        ++all[e].back().second;
      else
        all[e].emplace_back(rank, rank + 1);
    }
  }
  return all;
}

}  // namespace

RankData::RankData(const OperationShape& shape, Rank me)
    : shape_(shape),
      me_(me),
      blocks_count_(shape.operation == Operation::kBarrier ? 0 : block_count(shape)),  // a barrier has no data
      blocks_(blocks_count_) {}

void RankData::arrive() {
  const Rank p = participating_ranks(shape_);
  if (me_ >= p) return;
  const bool relative = has_relative_blocks(shape_);
  switch (shape_.operation) {
    case Operation::kBarrier: return;
    case Operation::kMulticast:
    case Operation::kScatter:
    case Operation::kDivide:
      if (me_ != 0) return;
      segments_ = shape_.segments(), payload_ = SymbolicValue(0, 0);
      for (Rank b = 0; b < blocks_count_; ++b) blocks_[b] = SymbolicValue(0, b);
      return;
    case Operation::kReduce:
    case Operation::kAllreduce:
      t_ = SymbolicValue(me_, 0);
      for (Rank b = 0; b < blocks_count_; ++b) blocks_[b] = SymbolicValue(me_, b);
      return;
    case Operation::kGather:
    case Operation::kAllgather: blocks_[relative ? 0 : me_] = SymbolicValue(me_, me_); return;
    case Operation::kAlltoall:
      for (Rank j = 0; j < p; ++j) blocks_[j] = SymbolicValue(me_, relative ? (me_ + j) % p : j);
      if (!relative) blocks_[p + me_] = SymbolicValue(me_, me_);
      return;
    case Operation::kConquer: {
      const Share share = final_share(shape_, me_);
      for (Rank b = share.first; b < share.end(); ++b) blocks_[b] = SymbolicValue(me_, b);
      return;
    }
  }
}

std::vector<std::size_t> RankData::places(const Transfer& t) const {
  std::vector<std::size_t> places;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const bool in_range = b >= t.first_block && b - t.first_block < t.blocks;
    if (t.carries == Carries::kBitBlocks ? (b >> t.first_block & 1) != 0 : in_range) places.push_back(b);
  }
  return places;
}

std::string RankData::take_block(std::size_t place, const SymbolicValue& value, OnReceive how) {
  SymbolicValue& mine = blocks_[place];
  const bool may_replace = shape_.operation == Operation::kAlltoall || combines(shape_.operation);
  if (how == OnReceive::kStore) {
    if (!mine.empty() && mine != value && !may_replace) return "gets another block where it has one";
    mine = value;
    return {};
  }
  if (how == OnReceive::kJoin && (mine.empty() || value.empty())) {
    if (mine.empty()) mine = value;
    return {};
  }
  if (mine.empty() || mine.block() != value.block()) return "combines blocks that do not belong together";
  mine = how == OnReceive::kCombineLeft ? SymbolicValue::combined(value, mine) : SymbolicValue::combined(mine, value);
  return {};
}

std::string RankData::take(const Transfer& t, const SymbolicMessage& message) {
  switch (t.carries) {
    case Carries::kToken: return {};
    case Carries::kPayload:
      if (message.segment < segments_) return "gets a segment twice";
      if (message.segment > segments_) return "gets segments out of order";
      ++segments_, payload_ = message.values.at(0);
      return {};
    case Carries::kPartial:
      if ((t.registers & kRegisterT) != 0) append(t_, message.values.at(0), t.on_receive == OnReceive::kCombineLeft);
      if ((t.registers & kRegisterS) != 0) append(s_, message.values.at(0), t.on_receive == OnReceive::kCombineLeft);
      return {};
    case Carries::kBlocks:
    case Carries::kBitBlocks: break;
  }
  const auto where = places(t);
  if (where.size() != message.values.size()) return "is sent another number of blocks than it waits for";
  for (std::size_t i = 0; i < where.size(); ++i)
    if (std::string wrong = take_block(where[i], message.values[i], t.on_receive); !wrong.empty()) return wrong;
  return {};
}

std::string RankData::give(const Transfer& t, std::uint32_t repetition, SymbolicMessage& message) {
  message = {t.carries, repetition, {}};
  switch (t.carries) {
    case Carries::kToken: return {};
    case Carries::kPayload: {
      const bool is_result = combines(shape_.operation) && me_ == 0;  // the reduction's root has all of it
      if (!is_result && repetition >= segments_) return "sends a segment before it has it";
      message.values = {is_result ? t_ : payload_};
      return {};
    }
    case Carries::kPartial: {
      const SymbolicValue& value = t.registers == kRegisterS ? s_ : t_;
      if (value.empty()) return "sends a partial result before it has one";
      message.values = {value};
      return {};
    }
    case Carries::kBlocks:
    case Carries::kBitBlocks: break;
  }
  if (t.carries == Carries::kBlocks && t.first_block + t.blocks > blocks_.size()) return "names an impossible block";
  for (const std::size_t b : places(t)) message.values.push_back(blocks_[b]);
  if (shape_.operation == Operation::kConquer) return {};  // what nobody brings is sent as zeros
  const bool all = std::ranges::none_of(message.values, &SymbolicValue::empty);
  return all ? std::string() : "sends a block before it has it";
}

// What the operation promises: the values that count, in the order of the blocks.
std::vector<SymbolicValue> RankData::result() const {
  const Algorithm a = shape_.choice.algorithm;
  const bool by_blocks = is_cut_into_blocks(shape_);
  switch (shape_.operation) {
    case Operation::kBarrier: return {};
    case Operation::kMulticast: return by_blocks ? blocks_ : std::vector{payload_};
    case Operation::kReduce:
      if (me_ != 0) return {};
      return by_blocks ? blocks_ : std::vector{t_};
    case Operation::kAllreduce:
      if (by_blocks) return blocks_;
      if (a == Algorithm::kDoubling && !s_.empty()) return {s_};
      return {a == Algorithm::kTrees && me_ != 0 ? payload_ : t_};
    case Operation::kScatter: return {blocks_[me_]};
    case Operation::kDivide: {
      const Share share = final_share(shape_, me_);
      return {blocks_.begin() + share.first, blocks_.begin() + share.end()};
    }
    case Operation::kConquer:
    case Operation::kGather: return me_ == 0 ? blocks_ : std::vector<SymbolicValue>{};
    case Operation::kAllgather: return me_ < participating_ranks(shape_) ? blocks_ : std::vector<SymbolicValue>{};
    case Operation::kAlltoall:
      return {blocks_.begin() + (has_relative_blocks(shape_) ? 0 : static_cast<std::ptrdiff_t>(shape_.ranks)),
              blocks_.end()};
  }
  return {};
}

SymbolicValue RankData::expected(std::size_t i) const {
  const Rank p = participating_ranks(shape_);
  const bool relative = has_relative_blocks(shape_);
  const auto block = static_cast<Rank>(i);
  switch (shape_.operation) {
    case Operation::kScatter: return {0, me_};
    case Operation::kDivide: return {0, final_share(shape_, me_).first + block};
    case Operation::kGather:
    case Operation::kAllgather: {
      const Rank source = relative ? (me_ + block) % p : block;
      return {source, source};
    }
    case Operation::kAlltoall: return {relative ? (me_ + p - block) % p : block, me_};
    default: return {0, block};
  }
}

// Each element holds what all who have it bring, in the order of their ranks, and nothing else.
std::string RankData::judge_joined() const {
  if (me_ != 0) return {};
  const std::vector<Runs> all = bringers(shape_);
  for (std::size_t e = 0; e < all.size(); ++e)
    if (blocks_[e].runs() != all[e])
      return "has not exactly what is brought for element " + std::to_string(e) + " in the end";
  return {};
}

std::string RankData::judge() const {
  if (shape_.operation == Operation::kConquer) return judge_joined();
  const std::vector<SymbolicValue> values = result();
  const bool by_segments = shape_.operation == Operation::kMulticast ||
                           (shape_.operation == Operation::kAllreduce && shape_.choice.algorithm == Algorithm::kTrees);
  const bool segments_missing = values.size() == 1 && by_segments && me_ != 0 && segments_ != shape_.segments();
  if (segments_missing && !is_cut_into_blocks(shape_))
    return "gets " + std::to_string(segments_) + " of " + std::to_string(shape_.segments()) + " segments";
  for (std::size_t i = 0; i < values.size(); ++i) {
    const SymbolicValue& v = values[i];
    if (v.empty()) return "lacks block " + std::to_string(i) + " in the end";
    if (combines(shape_.operation) && !v.has_each_once(shape_.ranks))
      return "has a result without each contribution exactly once";
    if (!combines(shape_.operation) && v != expected(i))
      return "has a wrong block " + std::to_string(i) + " in the end";
  }
  return {};
}

bool RankData::keeps_order() const {
  return std::ranges::all_of(result(), [&](const SymbolicValue& v) { return v.is_in_order(shape_.ranks); });
}

std::uint64_t RankData::expression() const {
  std::uint64_t all = 0;
  for (const SymbolicValue& v : result()) all = all * 31 + v.expression();
  return all;
}

}  // namespace fibocast

// What one rank of an operation holds while a schedule is executed with symbols: payload segments, registers, blocks;
// what a message takes from it and puts into it. For validate.cc.
#pragma once

#include <string>
#include <vector>

#include "collectives/schedule.h"
#include "collectives/symbolic_value.h"

namespace fibocast {

// The data of one message.
struct SymbolicMessage {
  Carries carries = Carries::kToken;
  std::uint32_t segment = 0;
  std::vector<SymbolicValue> values;
};

class RankData {
 public:
  RankData(const OperationShape& shape, Rank me);

  // The local participants call: what they bring is there.
  void arrive();
  // Both return what is wrong, or nothing.
  std::string take(const Transfer& transfer, const SymbolicMessage& message);
  std::string give(const Transfer& transfer, std::uint32_t repetition, SymbolicMessage& message);
  // What is missing or wrong at the end.
  std::string judge() const;
  // Every value of the result is combined in the order of the ranks.
  bool keeps_order() const;
  // Of the whole result.
  std::uint64_t expression() const;

 private:
  std::vector<std::size_t> places(const Transfer& transfer) const;
  std::vector<SymbolicValue> result() const;
  SymbolicValue expected(std::size_t block) const;
  std::string judge_joined() const;
  std::string take_block(std::size_t place, const SymbolicValue& value, OnReceive how);

  const OperationShape& shape_;
  Rank me_;
  Rank blocks_count_;
  std::uint32_t segments_ = 0;  // payload segments held
  SymbolicValue payload_;       // what they are segments of
  SymbolicValue t_, s_;         // registers
  std::vector<SymbolicValue> blocks_;
};

}  // namespace fibocast

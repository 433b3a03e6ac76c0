// The operations of a group, as one participant calls them. See participant.h for deadlines and threads.
#pragma once

#include <algorithm>

#include "collectives/divide.h"
#include "runtime/client/participant.h"

namespace fibocast {

// A value; copies are the same participant. Keeps the participant alive. All members make the same calls in the same
// order. Each operation ends with the right result or with a status that names the reason; an operation that fails
// leaves the group usable. What does not fit (unknown algorithm, an operator that the type does not have, bytes that
// are no whole blocks, more of them than the node has memory for) is kInvalid before anything is sent, by this library
// or by the node, and counts for nothing: the next call of this rank is made in its place. Where the others were not
// refused, repeat it as it should be; with another call instead this rank would be one behind them from then on. All
// other calls count, however they end.
//
// The operations exist as f(.., deadline, options) and async_f(.., deadline, token, options), whose handler takes an
// Outcome; the bytes are copied before async_f returns. Results are in Outcome::payload.
class Group {
 public:
  Group(std::shared_ptr<Participant> participant, GroupInfo info)
      : participant_(std::move(participant)), info_(std::move(info)) {}
  const std::string& name() const { return info_.name; }
  Rank rank() const { return info_.rank; }
  Rank size() const { return info_.size; }
  const GroupInfo& info() const { return info_; }

  // Returns when every participant of every member has called. Outcome::straggler is who came last.
  Outcome barrier(Duration deadline = {}, const OperationOptions& options = kPlainOperation) {
    return participant_->operate(call(Operation::kBarrier, 0, {}, deadline, options));
  }
  // The root gives the bytes, the others pass none and find the root's in the payload; the root's own is empty. Its
  // call does not wait for the others: it ends when the bytes are on their way, unless those of the one before have not
  // arrived everywhere yet. Who must know that all have them calls barrier().
  Outcome multicast(Rank root, std::span<const std::byte> bytes, Duration deadline = {},
                    const OperationOptions& options = kPlainOperation) {
    return participant_->operate(call(Operation::kMulticast, root, bytes, deadline, options));
  }
  // The same with one place for both: the root's bytes are sent, everybody else's are overwritten with them, and
  // Outcome::payload is empty. All give the same length; where it is another than the root's, the outcome is kInvalid
  // and the payload has what came. After a failure they may be overwritten in part. A node in this process saves one or
  // two copies, and large payloads gain most.
  Outcome multicast_into(Rank root, std::span<std::byte> bytes, Duration deadline = {},
                         const OperationOptions& options = kPlainOperation);
  // Every rank gives a vector of the same length; the root gets them combined, the others nothing.
  Outcome reduce(Rank root, std::span<const std::byte> vector, const Combination& combination, Duration deadline = {},
                 const OperationOptions& options = kPlainOperation) {
    return participant_->operate(reduction(Operation::kReduce, root, vector, combination, deadline, options));
  }
  template <class T>
  Outcome reduce(Rank root, std::span<const T> values, CombineOperator op, Duration deadline = {},
                 const OperationOptions& options = kPlainOperation) {
    return reduce(root, std::as_bytes(values), Combination{element_type_of<T>(), op}, deadline, options);
  }
  // ... everybody gets them combined. Floats give the same bits at every rank, every time.
  Outcome allreduce(std::span<const std::byte> vector, const Combination& combination, Duration deadline = {},
                    const OperationOptions& options = kPlainOperation) {
    return participant_->operate(reduction(Operation::kAllreduce, 0, vector, combination, deadline, options));
  }
  template <class T>
  Outcome allreduce(std::span<const T> values, CombineOperator op, Duration deadline = {},
                    const OperationOptions& options = kPlainOperation) {
    return allreduce(std::as_bytes(values), Combination{element_type_of<T>(), op}, deadline, options);
  }
  // With an operator of one's own: the vectors are gathered and combined here. `options.algorithm` is one of gather, or
  // of allgather.
  Outcome reduce_with(Rank root, std::span<const std::byte> vector, const Combine& combine, Duration deadline = {},
                      const OperationOptions& options = kPlainOperation);
  Outcome allreduce_with(std::span<const std::byte> vector, const Combine& combine, Duration deadline = {},
                         const OperationOptions& options = kPlainOperation);
  // The root gives size() blocks of equal length, the others nothing; each rank gets its block.
  Outcome scatter(Rank root, std::span<const std::byte> blocks, Duration deadline = {},
                  const OperationOptions& options = kPlainOperation) {
    return participant_->operate(call(Operation::kScatter, root, blocks, deadline, options));
  }
  // Every rank gives a block of the same length; the root gets all, in the order of the ranks.
  Outcome gather(Rank root, std::span<const std::byte> block, Duration deadline = {},
                 const OperationOptions& options = kPlainOperation) {
    return participant_->operate(call(Operation::kGather, root, block, deadline, options));
  }
  // ... everybody gets all.
  Outcome allgather(std::span<const std::byte> block, Duration deadline = {},
                    const OperationOptions& options = kPlainOperation) {
    return participant_->operate(call(Operation::kAllgather, 0, block, deadline, options));
  }
  // Every rank gives size() blocks, one for each rank, and gets one from each.
  Outcome alltoall(std::span<const std::byte> blocks, Duration deadline = {},
                   const OperationOptions& options = kPlainOperation) {
    return participant_->operate(call(Operation::kAlltoall, 0, blocks, deadline, options));
  }
  // Divide and conquer (Lo et al. 1992): the root gives its vector, each rank gets its share() of it. The algorithm
  // share:ALPHA says what part of what it holds a rank passes on in each phase; without one it is a half.
  Outcome divide(Rank root, std::span<const std::byte> vector, ElementType type = ElementType::kBytes,
                 Duration deadline = {}, const OperationOptions& options = kPlainOperation) {
    return participant_->operate(reduction(Operation::kDivide, root, vector, {type, {}}, deadline, options));
  }
  // The way back: each rank gives its share() of a vector of `elements`; the root gets the vector. Where shares overlap
  // (ALPHA > 1/2) they are combined, in the order of the ranks from the root on; what nobody has is zero.
  Outcome conquer(Rank root, std::uint64_t elements, std::span<const std::byte> share, const Combination& combination,
                  Duration deadline = {}, const OperationOptions& options = kPlainOperation) {
    return participant_->operate(joining(root, elements, share, combination, deadline, options));
  }
  // The elements that this rank gets of such a divide and brings to such a conquer. kInvalid for an unknown share, a
  // root that is no rank, or more than 4294967295 elements.
  Result<Share> share(Rank root, std::uint64_t elements, const OperationOptions& options = kPlainOperation) const;

  template <class Token>
  auto async_barrier(Duration deadline, Token&& token, const OperationOptions& options = kPlainOperation) {
    return start(call(Operation::kBarrier, 0, {}, deadline, options), std::forward<Token>(token));
  }
  template <class Token>
  auto async_multicast(Rank root, std::span<const std::byte> bytes, Duration deadline, Token&& token,
                       const OperationOptions& options = kPlainOperation) {
    return start(call(Operation::kMulticast, root, bytes, deadline, options), std::forward<Token>(token));
  }
  template <class Token>
  auto async_reduce(Rank root, std::span<const std::byte> vector, const Combination& combination, Duration deadline,
                    Token&& token, const OperationOptions& options = kPlainOperation) {
    return start(reduction(Operation::kReduce, root, vector, combination, deadline, options),
                 std::forward<Token>(token));
  }
  template <class Token>
  auto async_allreduce(std::span<const std::byte> vector, const Combination& combination, Duration deadline,
                       Token&& token, const OperationOptions& options = kPlainOperation) {
    return start(reduction(Operation::kAllreduce, 0, vector, combination, deadline, options),
                 std::forward<Token>(token));
  }
  template <class Token>
  auto async_scatter(Rank root, std::span<const std::byte> blocks, Duration deadline, Token&& token,
                     const OperationOptions& options = kPlainOperation) {
    return start(call(Operation::kScatter, root, blocks, deadline, options), std::forward<Token>(token));
  }
  template <class Token>
  auto async_gather(Rank root, std::span<const std::byte> block, Duration deadline, Token&& token,
                    const OperationOptions& options = kPlainOperation) {
    return start(call(Operation::kGather, root, block, deadline, options), std::forward<Token>(token));
  }
  template <class Token>
  auto async_allgather(std::span<const std::byte> block, Duration deadline, Token&& token,
                       const OperationOptions& options = kPlainOperation) {
    return start(call(Operation::kAllgather, 0, block, deadline, options), std::forward<Token>(token));
  }
  template <class Token>
  auto async_alltoall(std::span<const std::byte> blocks, Duration deadline, Token&& token,
                      const OperationOptions& options = kPlainOperation) {
    return start(call(Operation::kAlltoall, 0, blocks, deadline, options), std::forward<Token>(token));
  }
  template <class Token>
  auto async_divide(Rank root, std::span<const std::byte> vector, ElementType type, Duration deadline, Token&& token,
                    const OperationOptions& options = kPlainOperation) {
    return start(reduction(Operation::kDivide, root, vector, {type, {}}, deadline, options),
                 std::forward<Token>(token));
  }
  template <class Token>
  auto async_conquer(Rank root, std::uint64_t elements, std::span<const std::byte> share,
                     const Combination& combination, Duration deadline, Token&& token,
                     const OperationOptions& options = kPlainOperation) {
    return start(joining(root, elements, share, combination, deadline, options), std::forward<Token>(token));
  }

 private:
  OperationCall call(Operation operation, Rank root, std::span<const std::byte> bytes, Duration deadline,
                     const OperationOptions& options) const {
    return {info_.name, operation, root, bytes, deadline, &options,     info_.participants,
            info_.size, {},        {},   0,     rank(),   info_.routers};
  }
  OperationCall reduction(Operation operation, Rank root, std::span<const std::byte> vector,
                          const Combination& combination, Duration deadline, const OperationOptions& options) const {
    OperationCall c = call(operation, root, vector, deadline, options);
    c.combination = combination;
    return c;
  }
  OperationCall joining(Rank root, std::uint64_t elements, std::span<const std::byte> share,
                        const Combination& combination, Duration deadline, const OperationOptions& options) const {
    OperationCall c = reduction(Operation::kConquer, root, share, combination, deadline, options);
    c.total_bytes = std::min<std::uint64_t>(elements, std::uint64_t{1} << 32) * element_bytes(combination.type);
    return c;
  }
  template <class Token>
  auto start(OperationCall call, Token&& token) {
    return boost::asio::async_initiate<Token, void(Outcome)>(
        [participant = participant_](auto handler, OperationCall c) {
          participant->start(c, Completion<Outcome>(std::move(handler), participant->executor()));
        },
        token, call);
  }
  std::shared_ptr<Participant> participant_;
  GroupInfo info_;
};

}  // namespace fibocast

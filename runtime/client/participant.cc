#include "runtime/client/participant.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <thread>

#include "collectives/algorithm_catalog.h"
#include "collectives/divide.h"
#include "collectives/schedule.h"
#include "runtime/client/group.h"
#include "runtime/client/text.h"

namespace fibocast {
namespace {

// Of members that try to make one group at a time each has what the others refuse: they try again, and not together.
constexpr std::chrono::seconds kTryToMake{10};
constexpr std::chrono::milliseconds kFirstPause{32}, kLongestPause{1024};

// A group that nobody has created is, by its name alone, the group of all nodes.
GroupInfo group_of_all(std::string_view name, const NodeInfo& node) {
  GroupInfo info;
  info.name = name;
  info.rank = node.rank;
  info.size = node.size;
  for (NodeId id = 0; id < node.size; ++id) info.nodes.push_back(id);
  return info;
}

Status invalid(const OperationCall& call, const std::string& why) {
  return {
      Code::kInvalid, std::string(operation_name(call.operation)) + " '" + std::string(call.group) + "': " + why, {}};
}

// Bytes of one rank's vector or block, or of the root's vector that is shared out; nothing if it cannot be.
std::optional<std::uint64_t> size_of(const OperationCall& call) {
  if (call.operation == Operation::kConquer) return call.total_bytes;
  const std::uint64_t bytes = call.payload.size();
  if (call.operation != Operation::kScatter && call.operation != Operation::kAlltoall) return bytes;
  if (bytes % call.ranks != 0) return {};
  return bytes / call.ranks;
}

// The rank that is `rank` when the root is 0.
Rank virtual_rank(Rank rank, Rank root, Rank ranks) {
  return static_cast<Rank>((std::uint64_t{rank} + ranks - root) % ranks);
}

// What a rank brings to a conquer is its share.
std::string objection_to_share(const OperationCall& call, const OperationShape& shape) {
  if (call.root >= call.ranks) return "there is no rank " + std::to_string(call.root) + " to be the root";
  const Share share = final_share(shape, virtual_rank(call.rank, call.root, call.ranks));
  const std::uint64_t size = element_bytes(shape.type);
  if (call.payload.size() == share.count * size) return {};
  return "rank " + std::to_string(call.rank) + " must bring its share of " + std::to_string(block_count(shape)) +
         " elements: " + std::to_string(share.count) + " from number " + std::to_string(share.first) + " on, " +
         std::to_string(share.count * size) + " bytes, not " + std::to_string(call.payload.size());
}

// Finds the algorithm and says what cannot be.
Status check_call(OperationCall& call) {
  std::string error;
  if (Status status = check_group_name(call.group); !status.ok()) return status;
  if (call.options != nullptr)
    if (Status status = check_text("the label", call.options->label); !status.ok()) return status;
  if (call.ranks == 0) return {};
  if (call.rank >= call.ranks && call.rank < call.ranks + call.routers)
    return invalid(call, "rank " + std::to_string(call.rank) + " is a router; call at one of the ranks 0 to " +
                             std::to_string(call.ranks - 1));
  if (is_push(call.operation) && call.rank != call.root && !call.payload.empty())
    return invalid(call, "only the root, rank " + std::to_string(call.root) + ", brings something; give nothing here");
  const auto bytes = size_of(call);
  if (!bytes)
    return invalid(call, std::to_string(call.payload.size()) + " bytes are no " + std::to_string(call.ranks) +
                             " blocks of equal length");
  OperationShape shape{call.operation, call.ranks, *bytes, 0};
  if (call.options != nullptr && !call.options->algorithm.empty()) {
    const auto choice = choose_algorithm(call.operation, call.options->algorithm, error);
    if (!choice) return invalid(call, error);
    call.choice = *choice;
  }
  if (is_of_shares(call.operation) && call.choice.algorithm == Algorithm::kPlanned)
    call.choice = default_choice(call.operation, *bytes);
  shape.choice = call.choice, shape.type = call.combination.type, shape.op = call.combination.op;
  if (call.choice.algorithm == Algorithm::kFlooding) shape.ranks += call.routers;
  error = objection(shape);
  if (error.empty() && call.operation == Operation::kConquer) error = objection_to_share(call, shape);
  return error.empty() ? Status{} : invalid(call, error);
}

// Folds vectors of this length, which lie one behind the other, into the first: of all ranks, or of those of a group
// that goes on without some.
void fold(Outcome& outcome, std::size_t length, const Combine& combine) {
  if (!outcome.ok() || outcome.payload.empty() || length == 0) return;
  const std::span<std::byte> all(outcome.payload);
  for (std::size_t at = length; at + length <= all.size(); at += length)
    combine(all.first(length), all.subspan(at, length));
  outcome.payload.resize(length);
}

// Where the participant has not done it by itself.
void put_in_place(Outcome& outcome, std::span<std::byte> into) {
  if (!outcome.ok() || outcome.in_place) return;
  if (outcome.payload.size() != into.size()) {
    outcome.status = {Code::kInvalid,
                      "multicast: the root sent " + std::to_string(outcome.payload.size()) + " bytes, not " +
                          std::to_string(into.size()) + " as there is place for; give the same length at every rank",
                      {}};
    return;
  }
  std::ranges::copy(outcome.payload, into.begin());
  outcome.payload = {};
  outcome.in_place = true;
}

}  // namespace

Outcome Group::multicast_into(Rank root, std::span<std::byte> bytes, Duration deadline,
                              const OperationOptions& options) {
  const bool sends = rank() == root;
  OperationCall c = call(Operation::kMulticast, root, sends ? bytes : std::span<std::byte>(), deadline, options);
  if (!sends) c.into = bytes;
  Outcome outcome = participant_->operate(c);
  if (!sends) put_in_place(outcome, bytes);
  return outcome;
}

Outcome Participant::operate(OperationCall call) {
  Status status = check_call(call);
  if (status.ok()) return do_operate(call);
  Outcome refused;
  refused.status = std::move(status);
  return refused;
}

void Participant::start(OperationCall call, Completion<Outcome> done) {
  Outcome refused;
  refused.status = check_call(call);
  if (refused.ok()) return start_operate(call, std::move(done));
  done(std::move(refused));
}

Outcome Group::reduce_with(Rank root, std::span<const std::byte> vector, const Combine& combine, Duration deadline,
                           const OperationOptions& options) {
  Outcome outcome = gather(root, vector, deadline, options);
  fold(outcome, vector.size(), combine);
  return outcome;
}

Outcome Group::allreduce_with(std::span<const std::byte> vector, const Combine& combine, Duration deadline,
                              const OperationOptions& options) {
  Outcome outcome = allgather(vector, deadline, options);
  fold(outcome, vector.size(), combine);
  return outcome;
}

Result<Share> Group::share(Rank root, std::uint64_t elements, const OperationOptions& options) const {
  std::string error;
  const std::string name = options.algorithm.empty() ? "share" : options.algorithm;
  auto choice = choose_algorithm(Operation::kDivide, name, error);
  if (!choice) return Status{Code::kInvalid, error, {}};
  if (choice->algorithm == Algorithm::kPlanned) choice = default_choice(Operation::kDivide, elements);
  OperationShape shape{Operation::kDivide, size(), elements};
  shape.choice = *choice;
  error = objection(shape);
  if (root >= size()) error = "there is no rank " + std::to_string(root) + " to be the root";
  if (!error.empty()) return Status{Code::kInvalid, error, {}};
  return final_share(shape, virtual_rank(rank(), root, size()));
}

Status Participant::create_group(const GroupRequest& request) {
  if (Status status = check_group_name(request.name); !status.ok()) return status;
  using Clock = std::chrono::steady_clock;
  const Clock::time_point until = Clock::now() + kTryToMake;
  std::random_device random;
  for (auto longest = kFirstPause;; longest = std::min(2 * longest, kLongestPause)) {
    Status status = do_create_group(request);
    const auto pause = std::chrono::milliseconds(1 + random() % longest.count());
    if (!request.if_missing || status.code != Code::kRefused || Clock::now() + pause > until) return status;
    std::this_thread::sleep_for(pause);
  }
}

Result<Group> Participant::open(std::string_view name, std::uint32_t participants) {
  if (Status status = check_group_name(name); !status.ok()) return status;
  auto info = do_open(name, participants);
  if (!info.ok()) return info.status();
  return Group(shared_from_this(), *info);
}

Result<Group> Participant::join(std::string_view name, std::uint32_t participants) {
  auto node = status();
  if (!node.ok()) return node.status();
  const auto found = std::find_if(node->groups.begin(), node->groups.end(),
                                  [&](const GroupInfo& group) { return group.name == name; });
  GroupInfo info = found != node->groups.end() ? *found : group_of_all(name, *node);
  if (info.rank >= info.size + info.routers)
    return Status{
        Code::kInvalid, "node " + std::to_string(rank()) + " is not in group '" + std::string(name) + "'", {}};
  info.participants = participants;
  return Group(shared_from_this(), std::move(info));
}

}  // namespace fibocast

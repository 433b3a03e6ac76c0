#include "runtime/node/dispatch.h"

#include "runtime/node/comparison.h"
#include "runtime/node/dormant.h"
#include "runtime/node/doubts.h"
#include "runtime/node/epochs.h"
#include "runtime/node/greetings.h"
#include "runtime/node/group_admin.h"
#include "runtime/node/groups.h"
#include "runtime/node/half_made.h"
#include "runtime/node/mailbox.h"
#include "runtime/node/operations.h"
#include "runtime/node/peers.h"
#include "runtime/node/presence.h"
#include "runtime/node/verdicts.h"
#include "runtime/node/window_count.h"

namespace fibocast::dispatch {

namespace {

// It is answered to its sender if it cannot be here: this generation ends.
bool is_of_one_operation(PeerMessageType type) {
  using enum PeerMessageType;
  return type <= kVerdict || type == kDecline || type == kPostpone || type == kDoubt || type == kCompare;
}

// ... or it is about the whole group: it waits for an answer, or says once how far somebody is, who has to say so again
// when the group is known here.
bool is_of_the_group(const PeerMessage& m) {
  using enum PeerMessageType;
  const bool is_told_again = m.type == kWindow || m.type == kEpochStop || m.type == kEpochHold;
  return m.type == kWindowAsk || m.type == kWindowQuestion || (is_told_again && groups::is_created(m.group));
}

void refuse(NodeState& s, NodeId from, const PeerMessage& m, Nanoseconds now) {
  const bool names_one = is_of_one_operation(m.type);
  if (!names_one && !is_of_the_group(m)) return;
  PeerMessage refusal = m;
  refusal.type = PeerMessageType::kGroupUnknown, refusal.of_epoch = m.epoch;
  if (!names_one) refusal.generation = kNoGeneration;
  peers::send(s, from, refusal, false, now);
}

void on_unknown_group(NodeState& s, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  const Epoch epoch = s.groups[group].epoch;
  if (m.of_epoch.value_or(epoch) != epoch) return;  // it speaks of a group that had this name before
  const bool was_told = greetings::is_over(s, from, group);
  if (was_told) greetings::on_unknown(s, from, group, now);
  if (m.generation == kNoGeneration) return window_count::on_unknown_group(s, group, from, now);
  if (was_told) verdicts::on_unknown_group(s, group, from, m, now);  // else it will know
}

void on_operation_message(NodeState& s, NodeId from, const PeerMessage& m, std::span<const std::byte> payload,
                          Nanoseconds now) {
  std::uint32_t group = groups::find(s, m.group);
  // A group that is defined by its name alone exists at every node of the same file; a created one must have been told.
  if (group == kNoIndex && dormant::is_behind(s, m)) return;
  if (group == kNoIndex && groups::is_default_here(s, m.group)) group = groups::make_default(s, m.group);
  if (group == kNoIndex || s.groups[group].rank == kNoRank) {
    ++s.counters.unknown_group;
    return refuse(s, from, m, now);
  }
  if (m.ranks.end() > groups::size_of(s.groups[group])) {  // an application is told of each rank that is named
    ++s.counters.malformed;
    return;
  }
  switch (m.type) {
    case PeerMessageType::kTransfer: return operations::on_transfer(s, group, from, m, payload, now);
    case PeerMessageType::kAnnounce: return operations::on_announce(s, group, from, m, now);
    case PeerMessageType::kGrant: return operations::on_grant(s, group, from, m, now);
    case PeerMessageType::kDecline: return operations::on_decline(s, group, from, m, now);
    case PeerMessageType::kPostpone: return operations::on_postpone(s, group, from, m, now);
    case PeerMessageType::kWindow: return operations::on_window(s, group, from, m, now);
    case PeerMessageType::kVerdictRequest: return verdicts::on_request(s, group, from, m, now);
    case PeerMessageType::kFreeze: return verdicts::on_freeze(s, group, from, m, now);
    case PeerMessageType::kFreezeAnswer: return verdicts::on_freeze_answer(s, group, from, m, now);
    case PeerMessageType::kVerdict: return verdicts::on_verdict(s, group, from, m, now);
    case PeerMessageType::kDoubt: return doubts::on_doubt(s, group, from, m, now);
    case PeerMessageType::kCompare: return comparison::on_message(s, group, from, m, now);
    case PeerMessageType::kRejoin: return greetings::on_rejoin(s, group, m, now);
    case PeerMessageType::kWindowAsk: return window_count::on_ask(s, group, now);
    case PeerMessageType::kWindowQuestion: return window_count::on_question(s, group, from, now);
    case PeerMessageType::kWindowAnswer: return window_count::on_answer(s, group, from, m, now);
    case PeerMessageType::kEpochStop:
    case PeerMessageType::kEpochStopped:
    case PeerMessageType::kEpochInstall:
    case PeerMessageType::kEpochInstalled:
    case PeerMessageType::kEpochGo:
    case PeerMessageType::kEpochWanted:
    case PeerMessageType::kEpochHold:
    case PeerMessageType::kEpochHeld:
    case PeerMessageType::kEpochBehind: return epochs::on_message(s, group, from, m, now);
    default: return on_unknown_group(s, group, from, m, now);
  }
}

}  // namespace

void on_message(NodeState& s, NodeId from, const PeerMessage& m, std::span<const std::byte> payload, Nanoseconds now) {
  if (m.creation != kUnknownCreation) peers::of(s, from).knows_creations = true;
  switch (m.type) {
    case PeerMessageType::kGroupDefine: return group_admin::on_define(s, from, m, now);
    case PeerMessageType::kGroupTree: return group_admin::on_tree(s, from, m, now);
    case PeerMessageType::kGroupAnswer: return group_admin::on_answer(s, from, m, now);
    case PeerMessageType::kGroupRemove: return group_admin::on_remove(s, m, now);
    case PeerMessageType::kGroupRemoved: return group_admin::on_removed(s, m, now);
    case PeerMessageType::kGroupMade: return half_made::on_made(s, m.creation);
    case PeerMessageType::kClusterAdopted: return greetings::on_adopted(s, from);
    case PeerMessageType::kMessage: return mailbox::on_message(s, from, m, payload);
    case PeerMessageType::kMessageAnnounce: return mailbox::on_announce(s, from, m, now);
    case PeerMessageType::kMessageGrant: return mailbox::on_grant(s, from, m, now);
    case PeerMessageType::kMessageCredit: return mailbox::on_credit(s, from, m, now);
    case PeerMessageType::kNews: return presence::on_news(s, from, m, now);
    default: return on_operation_message(s, from, m, payload, now);
  }
}

}  // namespace fibocast::dispatch

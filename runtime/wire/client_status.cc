#include "runtime/wire/client_status.h"

#include "collectives/schedule.h"
#include "runtime/wire/rank_text.h"

namespace fibocast {
namespace {

// "barrier 'gate' (generation 4, label 'start')"
std::string subject(const OperationContext& about, Generation generation) {
  std::string text = std::string(operation_name(about.operation)) + " '";
  text += std::string(about.group) + "' (generation " + std::to_string(generation);
  if (!about.label.empty()) text += ", label '" + std::string(about.label) + "'";
  return text + ")";
}

std::string deadline_sentence(const OperationContext& about, const RankSet& missing) {
  const std::string passed = "deadline passed after " + duration_text(about.waited) + "; ";
  if (missing.empty())
    return passed +
           "no rank is known to be missing, so this node was too slow or cut off: look at `fibocast status` "
           "or give it a longer deadline";
  return passed + "missing ranks: " + rank_text(missing) + "; start them, or give it a longer deadline";
}

std::string death_sentence(const OperationContext& about, const RankSet& ranks) {
  std::string text = "an application on rank " + rank_text(ranks);
  if (!about.label_of_dead.empty()) text += " (label '" + std::string(about.label_of_dead) + "')";
  return text + " died in it; start it again and repeat the operation";
}

std::string mismatch_sentence(const RankSet& ranks) {
  if (!ranks.empty())
    return "ranks " + rank_text(ranks) +
           " do not know this operation, or the algorithm that others take: their daemons are of an older version; "
           "bring all daemons to one version, or name an algorithm that all know";
  return "members called different operations; let every rank call the same one, with the same root, algorithm, "
         "element type, operator and size; if they do, their daemons are of versions that plan differently: bring all "
         "to one";
}

std::string verdict_sentence(const OperationContext& about, const CallDone& done) {
  switch (done.verdict) {
    case Verdict::kDeadlineExceeded: return deadline_sentence(about, done.ranks);
    case Verdict::kPeerLost:
      return "lost ranks: " + rank_text(done.ranks) + "; start their daemons again and repeat the operation";
    case Verdict::kCallerLost: return death_sentence(about, done.ranks);
    case Verdict::kCancelled: return "cancelled; repeat it if it is still wanted";
    case Verdict::kMismatch: return mismatch_sentence(done.ranks);
    case Verdict::kStale:
      return "this generation ended longer ago than the node remembers; open the group again to join the next one";
    case Verdict::kPartitioned:
      return "cut off from the majority of the group; out of reach: " + rank_text(done.ranks) +
             "; repeat it when the network has healed";
    case Verdict::kRefused:
      if (done.ranks.empty())
        return "does not fit this node: too much data for limits.payload_bytes, or a schedule beyond limits.stages or "
               "limits.transfers; raise them, send less, or take another algorithm";
      return "refused by ranks: " + rank_text(done.ranks) +
             "; they do not know the group or have another member list: create it, and give all daemons the same list "
             "and version";
    default: return "failed; the log of the daemon says more";
  }
}

std::string_view admission_sentence(Admission admission) {
  switch (admission) {
    case Admission::kWouldBlock: return "no room just now; repeat it later, or send less at a time";
    case Admission::kUnknownGroup:
      return "no such group, or not the one that was opened; open it again, or create it (`fibocast group create`)";
    case Admission::kNotMember: return "this node is not a member; use a daemon of one of its ranks";
    case Admission::kBadRank: return "no such rank; `fibocast status` shows how many there are";
    case Admission::kTooLarge: return "too many bytes for the budget of this node; raise limits.payload_bytes";
    case Admission::kBadName: return "not a name; allowed: 1 to 47 bytes";
    case Admission::kExists:
      return "a group of this name exists already (`fibocast group list`); remove it, or take another name";
    case Admission::kOtherParticipants:
      return "the group has another number of participants at each member; give that number, or none";
    case Admission::kManyGroups:
      return "as many groups as limits.groups allows are in use here or were created; remove some (`fibocast group "
             "list`, `fibocast group remove`), or raise it";
    case Admission::kNoPlan:
      return "the tree is not one of these ranks, or has more children at one rank than limits.transfers allows; "
             "give another tree, or raise it";
    case Admission::kBadOperation:
      return "the algorithm, element type, operator or size does not fit the operation; `fibocast plan schedule` says "
             "which do";
    case Admission::kBadPolicy:
      return "the policy does not fit the group or this cluster; allowed: quorum:K with K more than half, no routers, "
             "no "
             "emulated NIC, at most 1600 members";
    case Admission::kManyParticipants:
      return "this operation is for groups of one participant per node; create one with `fibocast group create`";
    case Admission::kNotRoot: return "only the root brings something; give nothing at the other ranks";
    case Admission::kReservedName:
      return "no name for a group: `all` always exists and is every node, and behind a / stands a label; take another";
    case Admission::kReservedTag: return "such tags belong to the daemons; allowed: 0 to 2^63 - 1";
    case Admission::kTooManyLocal:
      return "more participants at one node than it has room for; raise limits.participants, or take fewer";
    case Admission::kTaken:
    case Admission::kIsThere: break;
  }
  return "";
}

}  // namespace

bool is_reserved_name(std::string_view group) { return group == "all" || group.find('/') != std::string_view::npos; }

client::Code code_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk: return client::CODE_OK;
    case Verdict::kDeadlineExceeded: return client::CODE_DEADLINE_EXCEEDED;
    case Verdict::kPeerLost:
    case Verdict::kCallerLost: return client::CODE_PEER_LOST;
    case Verdict::kCancelled: return client::CODE_CANCELLED;
    case Verdict::kMismatch: return client::CODE_MISMATCH;
    case Verdict::kStale: return client::CODE_STALE;
    case Verdict::kRefused: return client::CODE_REFUSED;
    case Verdict::kPartitioned: return client::CODE_PARTITIONED;
    case Verdict::kPending: break;
  }
  return client::CODE_FAILED;
}

client::Code code_of(Admission admission) {
  switch (admission) {
    case Admission::kTaken:
    case Admission::kIsThere: return client::CODE_OK;
    case Admission::kWouldBlock: return client::CODE_WOULD_BLOCK;
    default: return client::CODE_INVALID;
  }
}

void set_status(client::Code code, std::string_view sentence, client::Status& status) {
  status.Clear();
  status.set_code(code);
  if (!sentence.empty()) status.set_sentence(sentence.data(), sentence.size());
}

void describe_call(const OperationContext& about, const CallDone& done, client::Status& status) {
  set_status(code_of(done.verdict), "", status);
  if (done.verdict == Verdict::kOk) return;
  status.set_sentence(subject(about, done.generation) + ": " + verdict_sentence(about, done));
  for (std::uint32_t i = 0; i < done.ranks.runs(); ++i)
    for (std::uint32_t k = 0; k < done.ranks.run(i).count; ++k) status.add_ranks(done.ranks.run(i).first + k);
}

void describe_admission(std::string_view about, Admission admission, client::Status& status) {
  set_status(code_of(admission), "", status);
  if (code_of(admission) == client::CODE_OK) return;
  status.set_sentence(std::string(about) + ": " + std::string(admission_sentence(admission)));
}

}  // namespace fibocast

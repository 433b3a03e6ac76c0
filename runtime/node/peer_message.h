// What two nodes say to each other above the channel: fixed, little-endian structs in the body of a small message.
// Fields are only ever appended, and bytes after the known ones are ignored, so that the next minor version can
// add some (PROTOCOL 13). Values of a newer node that are not known here are read as well: see `understood`. Core: no
// heap, no exceptions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "collectives/plan.h"
#include "collectives/types.h"
#include "runtime/node/belief.h"
#include "runtime/node/group_policy.h"
#include "runtime/node/rank_set.h"
#include "runtime/node/short_text.h"
#include "runtime/node/straggler.h"

namespace fibocast {

inline constexpr std::size_t kMaxPeerMessage = 272;  // bytes; equals Limits::small_body
inline constexpr std::size_t kTreeEntryBytes = 4;    // rank and first child of a TreeTableEntry
inline constexpr std::size_t kMostPieceBytes = 60 * kTreeEntryBytes;
inline constexpr Generation kNoGeneration = 0xffff'ffff;

// Values go over the wire: append only.
enum class PeerMessageType : std::uint8_t {
  kTransfer = 1,        // a transfer of the schedule; an eager payload rides along
  kAnnounce = 2,        // a payload of `total_bytes` will come as bulk `stream`
  kGrant = 3,           // ... it may; not sent if it comes `unasked`
  kVerdictRequest = 4,  // member -> coordinator: `verdict` says why (deadline, mismatch, peer lost: `ranks`)
  kFreeze = 5,          // coordinator -> members: stop this generation and say how far you are
  kFreezeAnswer = 6,
  kVerdict = 7,
  kDoubt = 33,    // of who waits for data: are you done with this? `ranks`: who was away meanwhile (doubts.h)
  kCompare = 34,  // of who has waited for long: is it the same operation for you? (comparison.h)
  kWindow = 8,    // `completed` up the tree, `window_base` down
  kGroupDefine = 9,
  // `verdict`: kOk, kRefused, or kStale: the same, of another creation. `creation`: of the group that is there
  kGroupAnswer = 10,
  kGroupRemove = 11,
  // refusal: that group does not exist here; `generation`: kNoGeneration: ... which was asked how far it is; `of_epoch`
  kGroupUnknown = 12,
  kMessage = 13,          // application message, eager
  kMessageAnnounce = 14,  // application message, as bulk `stream`
  kMessageGrant = 15,
  kDecline = 17,         // child -> parent: this generation's payload is not wanted here any more
  kPostpone = 35,        // child -> parent: no memory yet; `stream` is to begin anew, nothing of it ahead of its grant
  kMessageCredit = 16,   // `count` messages of the peer have been received here so far; `host_count`
  kGroupTree = 18,       // entries of the given tree of the definition before it: `piece`
  kNews = 19,            // what is believed about a node: `news`
  kWindowAsk = 20,       // member -> lowest live rank: my calls wait for the window, and a member is lost
  kWindowQuestion = 21,  // lowest live rank -> members: how far are you?
  kRejoin = 23,  // to a restarted daemon: we are done with the generations before `generation`, since `ended_ago`
  // A change of the group's epoch to `next_epoch` (epochs.h):
  kEpochStop = 24,  // leader -> members: promise, and say how far you are; `piece`: the new list
  // `verdict`; `piece`: outcomes from `generation` on, and the list of the sender's epoch; `let_go`
  kEpochStopped = 25,
  kEpochInstall = 26,    // leader -> members: `piece`: outcomes; `ranks`: the lost ones; `plan`; `let_go`
  kEpochInstalled = 27,  // `verdict`
  kEpochGo = 28,
  kEpochWanted = 29,     // member -> leader: a change, please; I may be outside. `ranks`: whom I miss
  kEpochHold = 31,       // a new plan is coming: call nothing new; `arrived`: ... from `generation` on (replan.h)
  kEpochHeld = 32,       // `verdict`; nothing is open from `generation` on; `arrived`: nor before
  kEpochBehind = 30,     // to a member that is outside: ask `root`
  kGroupRemoved = 36,    // to who was away: the group of this `creation` is no more
  kClusterAdopted = 37,  // the sender has read the cluster's file again, and knows groups that it did not know before
  kGroupMade = 38,       // all members have the group of this `creation`
  kWindowAnswer = 22,    // `completed`: this member alone is done with the generations before
};

// One struct for all types; each type carries the fields of its own (peer_message.cc).
struct PeerMessage {
  PeerMessageType type = PeerMessageType::kTransfer;
  // False: a newer node names an operation, algorithm, element type, operator, policy or plan that this one does not
  // know. What is not known is left out, so that nothing here counts on it; whom it concerns is to be told.
  bool understood = true;
  GroupId group = 0;
  Epoch epoch = 1;
  Generation generation = 0;
  Operation operation = Operation::kBarrier;
  AlgorithmChoice choice;
  ElementType element = ElementType::kBytes;
  CombineOperator op = CombineOperator::kNone;
  Rank root = 0;    // rank in the group
  Rank source = 0;  // rank in the group
  bool charged = true;
  Generation window_base = 0;  // every member is done with the generations before
  Generation completed = 0;    // the sender's subtree is done with the generations before
  std::uint8_t stage = 0;
  std::uint32_t repetition = 0;
  Straggler straggler;  // a barrier's token: of the ranks it speaks for; its release: of all
  std::uint64_t total_bytes = 0;
  std::uint32_t segment_bytes = 0;
  std::uint32_t stream = 0;
  bool unasked = false;  // all of the stream comes ahead of the receiver's grant
  Verdict verdict = Verdict::kPending;
  bool arrived = false;  // all local participants have called
  RankSet ranks;
  ShortText label;              // kCallerLost: of the caller that died
  std::uint64_t ended_ago = 0;  // ns, of a success (former_life.h); 0: an older node does not tell
  std::uint64_t tag = 0;
  std::uint32_t count = 0;
  std::optional<std::uint32_t> host_count;  // of these by the host itself; an older node does not tell
  std::array<char, 48> name{};
  std::uint8_t name_length = 0;
  std::uint32_t participants = 1;
  std::uint16_t routers = 0;
  GroupPolicy policy = GroupPolicy::kAll;
  Rank quorum = 0;
  CreationId creation = kUnknownCreation;  // which group of this name; an older node does not tell
  // kGroupDefine: not all members have it yet, as far as the sender knows; of one that is no more: they never had
  bool unfinished = false;
  Epoch next_epoch = 0;
  std::optional<Epoch> of_epoch;  // of what is refused: the group may be another one now; an older node does not tell
  std::optional<Generation> let_go;  // all begin there (EpochChange::let_go); an older node does not tell
  Plan plan;                         // without its given tree
  std::uint32_t first = 0;           // entry of the given tree that `piece` begins with
  News news;
  std::span<const std::byte> piece;  // at most kMostPieceBytes; valid as long as the bytes it was decoded from
};

// Bytes written (at most kMaxPeerMessage). `out` must hold that many.
std::size_t encode_peer_message(const PeerMessage& message, std::span<std::byte> out);
// A definition with the longest name and the most runs of members fills a message: such groups are told apart by their
// names alone.
bool has_room_for_creation(std::size_t name_length, const RankSet& members);
// None: truncated, unknown type or a value out of range.
std::optional<PeerMessage> decode_peer_message(std::span<const std::byte> body);

}  // namespace fibocast

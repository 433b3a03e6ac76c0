// What others are told of generations that are over here.
#include "runtime/node/former_life.h"
#include "runtime/node/operations.h"
#include "runtime/node/peers.h"
#include "runtime/node/slots.h"
#include "runtime/node/streams.h"
#include "runtime/node/verdicts.h"

namespace fibocast::verdicts {

void tell_forgotten(NodeState& state, std::uint32_t group, NodeId to, const PeerMessage& question, Nanoseconds now) {
  PeerMessage m = question;
  m.type = PeerMessageType::kVerdict;
  m.source = state.groups[group].rank;
  m.verdict = Verdict::kPeerLost;
  m.window_base = state.groups[group].global_base;
  peers::send(state, to, m, true, now);  // else asked again
}

bool tell_recorded(NodeState& state, std::uint32_t slot, NodeId to, Nanoseconds now, Verdict why,
                   const RankSet& ranks) {
  const Slot& s = state.slots[slot];
  PeerMessage m = operations::message_about(state, slot, PeerMessageType::kVerdict);
  m.verdict = s.verdict, m.ranks = s.ranks;
  if (s.verdict == Verdict::kOk) m.ended_ago = former_life::since(s.ended_at, now);
  // Our own copy of the payload does not help a member whose copy did not come in time.
  if (s.operation != Operation::kBarrier && s.verdict == Verdict::kOk) {
    m.verdict = ranks.empty() && is_loss(why) ? Verdict::kDeadlineExceeded : why;
    m.ranks = ranks;
  }
  return peers::send(state, to, m, true, now);
}

void answer_from_record(NodeState& state, std::uint32_t slot, NodeId from, const PeerMessage& m, Nanoseconds now) {
  const Slot& s = state.slots[slot];
  const bool handed_out = s.operation != Operation::kBarrier && s.verdict == Verdict::kOk;
  // Who does not know how it is done takes nothing, and passes nothing on to those who wait for it.
  if (handed_out && m.verdict == Verdict::kMismatch && !m.ranks.empty()) {
    streams::give_up_sends(state, slot, from, now);
    tell_all(state, slot, from, m.verdict, m.ranks, now);
    return operations::close_if_through(state, slot, now);
  }
  const Verdict why = is_loss(m.verdict) ? m.verdict : Verdict::kPeerLost;
  const RankSet ranks = is_loss(m.verdict) ? m.ranks : RankSet{};
  // An application died there, and what came after that is not passed on: those who wait for it do not know why. Of
  // what is handed out they are told by their parents.
  if (why == Verdict::kCallerLost && s.verdict == Verdict::kOk && !is_push(s.operation))
    return tell_all(state, slot, from, handed_out ? why : s.verdict, handed_out ? ranks : RankSet{}, now);
  tell_recorded(state, slot, from, now, why, ranks);
}

}  // namespace fibocast::verdicts

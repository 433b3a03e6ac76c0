// What the verdict of a generation is, once the members that could be reached have said how far they are. Core.
#pragma once

#include "runtime/node/node_state.h"

namespace fibocast::judgement {

// The message is of a member, to whom the peer's node belongs, and of the open epoch.
bool is_member(const GroupState& g, NodeId from, const PeerMessage& m);
// A member that takes part in the operation asked about, as participant or as router.
bool is_concerned(const GroupState& g, Rank rank);
// What this member says counts once; `answer` is kFreezeAnswer's.
void take_answer(NodeState& state, std::uint32_t group, Rank rank, const PeerMessage& answer, Nanoseconds now);
// Who has not arrived, as far as the answers say.
RankSet missing_ranks(NodeState& state, std::uint32_t group);
// Only who is gone, not who had merely not called yet.
RankSet lost_ranks(const NodeState& state, std::uint32_t group);
Verdict decide(const Inquiry& q, Operation operation, const RankSet& missing);

}  // namespace fibocast::judgement

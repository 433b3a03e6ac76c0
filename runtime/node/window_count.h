// Calls that wait for the window wait for members: those on whom it depends are probed, as those are on whom an
// operation waits. When a member is lost, nobody tells up the window's tree what it and those below it are through
// with: the calls would wait for ever. Then the lowest rank that lives asks every live member how far it is, and moves
// the window without the lost ones. Who has merely never come up is waited for. So it is with a group of all nodes by a
// file that was read anew since: members that were started with the new one do not know it. Core.
#pragma once

#include "runtime/node/node_state.h"

namespace fibocast::window_count {

// A call waits for the window from now on.
void look_after(NodeState& state, std::uint32_t group, Nanoseconds now);
// If calls wait for the window: probes on whom it depends, or asks for the count if a member is lost; again and again.
void ask_if_stuck(NodeState& state, std::uint32_t group, Nanoseconds now);
// A member asks us to count.
void on_ask(NodeState& state, std::uint32_t group, Nanoseconds now);
void on_question(NodeState& state, std::uint32_t group, NodeId from, Nanoseconds now);
void on_answer(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now);
// The peer does not know the group: if it is one of a former file the peer holds nobody up.
void on_unknown_group(NodeState& state, std::uint32_t group, NodeId from, Nanoseconds now);
// Goes on with a count that waits for channels.
void pump(NodeState& state, std::uint32_t group, Nanoseconds now);

}  // namespace fibocast::window_count

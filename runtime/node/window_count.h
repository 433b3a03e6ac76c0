// When a member is lost, nobody tells up the window's tree what it and those below it are through with: the calls that
// wait for the window would wait for ever. Then the lowest rank that lives asks every live member how far it is, and
// moves the window without the lost ones. Who has merely never come up is waited for. Core.
#pragma once

#include "runtime/node/node_state.h"

namespace fibocast::window_count {

// Asks for the count if calls wait for the window and a member is lost; again, as long as that is so.
void ask_if_stuck(NodeState& state, std::uint32_t group, Nanoseconds now);
// A member asks us to count.
void on_ask(NodeState& state, std::uint32_t group, Nanoseconds now);
void on_question(NodeState& state, std::uint32_t group, NodeId from, Nanoseconds now);
void on_answer(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now);
// Goes on with a count that waits for channels.
void pump(NodeState& state, std::uint32_t group, Nanoseconds now);

}  // namespace fibocast::window_count

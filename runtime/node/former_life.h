// A member that was started again may wait in a barrier that ended well long ago, as the one that it was before had
// arrived there: its calls must not be told of that success. So who tells of one says how long ago it was, and what was
// longer ago than a process lives is of its former life. Time that the message takes makes it look later: no success is
// taken for such that is not, but one may not be known as such that ended just before the process was started. Core.
#pragma once

#include <algorithm>

#include "runtime/node/node_state.h"

namespace fibocast::former_life {

// In ns, for PeerMessage::ended_ago; at least 1.
inline std::uint64_t since(Nanoseconds ended_at, Nanoseconds now) {
  return ended_at < now ? static_cast<std::uint64_t>(now - ended_at) : 1;
}
// The latest end, on this clock, of what was so long ago when it was told.
inline Nanoseconds end_of(std::uint64_t ended_ago, Nanoseconds now) {
  return now - static_cast<Nanoseconds>(std::min(ended_ago, static_cast<std::uint64_t>(now)));
}
inline bool was_before(const NodeState& state, Nanoseconds ended_at) { return ended_at < state.born_at; }
// By a message; an older node does not say when.
inline bool is_told_by(const NodeState& state, const PeerMessage& m, Nanoseconds now) {
  return m.ended_ago > 0 && was_before(state, end_of(m.ended_ago, now));
}

}  // namespace fibocast::former_life

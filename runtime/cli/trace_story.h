// What the flight recorders of several daemons tell together: which groups there are, and for each operation who called
// and was activated when. Only what is in every recorder's window is whole.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "collectives/plan.h"
#include "runtime/client/node_trace.h"

namespace fibocast {

struct TracedGroup {
  std::string name;
  std::vector<NodeId> members;  // by rank
  std::uint32_t participants = 1;
  TreeSpec reduction, distribution;
};

// Times are those of the hosts' monotonic clocks; 0: not in the window.
struct TracedRank {
  Nanoseconds called = 0, activated = 0, ended = 0;
  Verdict verdict = Verdict::kPending;
};

struct TracedOperation {
  Operation operation = Operation::kBarrier;
  Rank root = 0;
  AlgorithmChoice choice;
  ElementType type = ElementType::kBytes;
  CombineOperator op = CombineOperator::kNone;
  std::uint64_t bytes = 0;
  std::uint32_t segment_bytes = 0;
  bool opened = false;            // algorithm and size are known
  std::vector<TracedRank> ranks;  // as many as the group has

  // Everybody called, was activated and got its result while all recorders were watching.
  bool is_whole() const;
};

struct TraceStory {
  Nanoseconds from = 0, to = 0;  // what all recorders cover
  std::map<std::uint32_t, TracedGroup> groups;
  std::map<std::pair<std::uint32_t, Generation>, TracedOperation> operations;
};

// Events of groups that no recorder describes any more are left out.
TraceStory tell_story(const std::vector<NodeTrace>& traces);

}  // namespace fibocast

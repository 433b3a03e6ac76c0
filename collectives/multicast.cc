#include "collectives/multicast.h"

#include "collectives/tree_view.h"

namespace fibocast {

void write_multicast(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out) {
  const TreeView tree(plan.distribution, shape.ranks, me);
  const auto payload = [](Rank peer) {
    return Transfer{.peer = peer, .stage = kMulticastStage, .carries = Carries::kPayload};
  };
  out.begin_stage({.repeat = shape.segments(), .waits_for_arrival = me == 0});
  if (tree.parent() != kNoRank) out.receive(payload(tree.parent()));
  for (Rank i = 0; i < tree.children() && out.ok(); ++i) out.send(payload(tree.child(i)));
}

}  // namespace fibocast

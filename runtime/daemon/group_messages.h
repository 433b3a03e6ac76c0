// Between the node's groups and the messages of client.proto.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/plan.h"
#include "runtime/daemon/group_planner.h"
#include "runtime/node/node.h"
#include "runtime/wire/client.pb.h"

namespace fibocast {

// The group with this id. Nothing if the node has none.
std::optional<Node::GroupInfo> find_group_info(const Node& node, GroupId id);
// The group went on without this node: its participants are numbered anew. Of a group that waits for all, each goes
// through the numbers that it missed.
bool went_on_without(const Node& node, GroupId group, Verdict verdict);
// Adds to the sentence of a call that ended without them which of the ranks concerned are not absent, but refused.
void name_refused(const Node& node, std::string_view group, const CallDone& done, client::Status& status);
// Leaves `out` empty for no group.
void fill_group(const std::optional<Node::GroupInfo>& info, client::Group& out);

// Both return a sentence that says what is wrong, or nothing.
std::string read_members(const client::CreateGroup& wanted, RankSet& members);
// The trees that the request names, else the fastest plan for so many ranks. A given tree is put into `table`, which
// the plan then views. Precondition: members were read.
std::string read_plan(const client::CreateGroup& wanted, GroupPlanner& planner, Plan& plan,
                      std::vector<TreeTableEntry>& table);

// The same for a group that goes on.
std::string read_plan(const client::PlanGroup& wanted, const Node::GroupInfo& group, GroupPlanner& planner, Plan& plan);

// How Event::kGroupReady ended: of a group that was created, or that was to have another plan.
void describe_group_ready(std::string_view name, const CallDone& done, client::Status& status);
void describe_plan_ready(std::string_view name, const CallDone& done, client::Status& status);

}  // namespace fibocast

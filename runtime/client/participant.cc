#include "runtime/client/participant.h"

#include <algorithm>

namespace fibocast {
namespace {

// A group that nobody has created is, by its name alone, the group of all nodes.
GroupInfo group_of_all(std::string_view name, const NodeInfo& node) {
  GroupInfo info;
  info.name = name;
  info.rank = node.rank;
  info.size = node.size;
  for (NodeId id = 0; id < node.size; ++id) info.nodes.push_back(id);
  return info;
}

}  // namespace

Result<Group> Participant::open(std::string_view name, std::uint32_t participants) {
  auto info = do_open(name, participants);
  if (!info.ok()) return info.status();
  return Group(shared_from_this(), *info);
}

Result<Group> Participant::join(std::string_view name, std::uint32_t participants) {
  auto node = status();
  if (!node.ok()) return node.status();
  const auto found = std::find_if(node->groups.begin(), node->groups.end(),
                                  [&](const GroupInfo& group) { return group.name == name; });
  GroupInfo info = found != node->groups.end() ? *found : group_of_all(name, *node);
  if (info.rank >= info.size)
    return Status{
        Code::kInvalid, "node " + std::to_string(rank()) + " is not in group '" + std::string(name) + "'", {}};
  info.participants = participants;
  return Group(shared_from_this(), std::move(info));
}

}  // namespace fibocast

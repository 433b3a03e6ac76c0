// What becomes of a group that loses members, as people write it: "all", "survivors", "quorum:3".
#pragma once

#include <string>
#include <string_view>

#include "runtime/node/group_policy.h"

namespace fibocast {

struct PolicyChoice {
  GroupPolicy policy = GroupPolicy::kAll;
  Rank quorum = 0;
};

// Of a group of so many members; empty text: "all". Returns what is wrong, a sentence, and leaves `choice` then.
std::string read_policy(std::string_view text, Rank members, PolicyChoice& choice);
std::string policy_text(GroupPolicy policy, Rank quorum);

}  // namespace fibocast

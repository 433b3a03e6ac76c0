// A tree as a command line or a file of cases names it, and what that means to a daemon.
#pragma once

#include <string>

#include "collectives/plan.h"
#include "runtime/client/status.h"

namespace fibocast {

struct TreeOption {
  std::string name;     // fibo, binomial, kary:4, ...
  std::string s = "1";  // costs: 9/5, 1.8, 27us
  std::string r = "1";
};

// kInvalid with a sentence for an unknown name, a cost that is none, or a tree that no daemon can run.
Result<TreeSpec> tree_spec_of(const TreeOption& option);

}  // namespace fibocast

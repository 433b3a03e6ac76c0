// What happens again and again in a running cluster, without sockets and threads: each path can be run once more, any
// number of times. Measured in time by hot_paths_bench.cc, counted in instructions by count_instructions.cc.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace fibocast {

struct HotPath {
  std::string name;
  std::function<void()> once;
};

std::vector<HotPath> hot_paths();

}  // namespace fibocast

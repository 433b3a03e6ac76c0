// A node of the cluster in the application's own process.
#include <runtime/client/embedded_node.h>

#include <iostream>

int main() {
  fibocast::EmbeddedNode::Options options;
  options.nodes = {"127.0.0.1:7200"};
  auto node = fibocast::EmbeddedNode::start(options);
  if (!node.ok()) return std::cerr << node.status().sentence << '\n', 1;
  auto group = node.value()->open("all");
  const auto outcome = group.value().barrier(std::chrono::seconds(20));
  if (!outcome.ok()) return std::cerr << outcome.status.sentence << '\n', 1;
  std::cout << "passed as rank " << group.value().rank() << " of " << group.value().size() << '\n';
}

// A node on a board: newlib, no operating system, no heap, 64 KiB for everything the node keeps. It exists so that
// the whole core is linked (see check.sh beside it); a real board adds a radio and a timer to the loop.
#include <cstddef>
#include <new>

#include "runtime/node/node.h"

namespace {

constexpr std::size_t kArenaBytes = 64 * 1024;  // what Limits::tiny() promises to need at most
alignas(std::max_align_t) std::byte g_arena[kArenaBytes];
alignas(fibocast::Node) std::byte g_node[sizeof(fibocast::Node)];

// One turn of the loop: what is due, then everything the node has to say. Returns the frames sent.
int turn(fibocast::Node& node, fibocast::Nanoseconds now) {
  static std::byte scratch[fibocast::kMaxHeadBytes];
  fibocast::Event event;
  fibocast::Transmit transmit;
  int frames = 0;
  node.on_timer(now);
  while (node.poll_event(event)) {
  }
  while (node.poll_transmit(now, scratch, transmit)) ++frames;
  return frames;
}

}  // namespace

int main() {
  const fibocast::Limits limits = fibocast::Limits::tiny();
  if (fibocast::Node::bytes_needed(limits) > kArenaBytes) return 1;
  fibocast::NodeSettings settings;
  settings.nodes = limits.nodes;
  auto* node = new (g_node) fibocast::Node(limits, settings, g_arena);
  node->start(0);
  return turn(*node, 1) > 0 ? 0 : 2;
}

// Spreads news about nodes: the latest fact about each, and whom it is still owed to. Core: no heap, no clock.
//
// A fact that is new here is passed on once to our fingers: the next two nodes of the ring that are present, and the
// nodes self + 4, + 8, ... (mod n) as far as they are. So every node is reached over several ways, each of
// O(log n) hops, with O(log n) messages per node and fact. Facts are owed, not queued: one bit per finger and subject;
// what changed before it was told is told once, in its latest form.
//
// Facts only grow (supersedes()), so all nodes end with the same ones, in whatever order they are told.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/node/belief.h"
#include "runtime/node/node_queue.h"

namespace fibocast {

class NewsDesk {
 public:
  // Memory for a desk of `limits.nodes` nodes.
  static std::size_t bytes_needed(const Limits& limits);
  // `memory`: bytes_needed(), aligned as MemoryCarver wants it, outlives the desk. self < nodes <= limits.nodes.
  NewsDesk(const Limits& limits, NodeId self, std::uint32_t nodes, std::uint64_t incarnation,
           std::span<std::byte> memory);

  // Nodes up to this number, at least as before, at most limits.nodes.
  void grow(std::uint32_t nodes);

  // The latest fact about `subject`, this node included; incarnation 0 if it never came.
  News latest(NodeId subject) const;
  // `subject` came with this incarnation: alive in its life 0, and nothing about the former one is owed any more.
  void start_over(NodeId subject, std::uint64_t incarnation);
  // Present: worth telling, and a place in our ring. Nobody is at the beginning.
  void set_present(NodeId node, bool present);
  // The next present node of the ring after us; kNoNode if there is none.
  NodeId successor();
  // The next present node of the ring after `node`, before us; kNoNode if there is none.
  NodeId present_after(NodeId node) const;

  // Takes `news` if it supersedes the latest fact, and owes it to the fingers except `from` (kNoNode: to all). False:
  // it did not. Precondition: of the subject's incarnation.
  bool learn(const News& news, NodeId from);
  // Owes the latest fact about `subject` ...
  void tell_fingers(NodeId subject);          // ... to all fingers
  void tell_successor(NodeId subject);        // ... to the first one
  void tell_subject(NodeId subject);          // ... to itself, if it is not that it is alive
  void answer(NodeId asker, NodeId subject);  // ... to `asker`: one at a time about each subject, the last one wins

  // The next thing to tell, taken as told. False: nothing to tell now.
  bool poll(NodeId& to, News& news);
  bool has_any() const { return queue_.size() > 0; }  // for poll(), perhaps
  // Takes the last poll() back, if the caller could not send it: owed again, and nothing for `to` until unblock(to).
  // Returns `to`. Precondition: the last call was a poll() that returned true.
  NodeId could_not_tell();
  void unblock(NodeId node) { entries_[node].blocked = false; }

 private:
  // What is owed about a subject: a bit per finger, and these.
  static constexpr std::uint32_t kFingers = 16;
  static constexpr std::uint32_t kEveryFinger = (1u << kFingers) - 1;
  static constexpr std::uint32_t kToSubject = 1u << 29;
  static constexpr std::uint32_t kAboutSelf = 1u << 30;  // the fact about us, to this node
  static constexpr std::uint32_t kToAsker = 1u << 31;

  struct NewsEntry {
    std::uint64_t incarnation = 0;
    std::uint32_t life = 0;
    std::uint32_t owed = 0;
    NodeId asker = kNoNode;
    Belief belief = Belief::kAlive;
    bool present = false;
    bool blocked = false;
  };

  void owe(NodeId subject, std::uint32_t bits);
  bool take(NodeId subject, NodeId& to, News& news);
  NodeId target(NodeId subject, std::uint32_t bit) const;
  void refresh_fingers();

  NodeId self_;
  std::uint32_t nodes_;
  std::span<NewsEntry> entries_;
  NodeQueue queue_;  // subjects of which something is owed
  std::array<NodeId, kFingers> fingers_;
  bool fingers_stale_ = false;
  NodeId last_subject_ = kNoNode;  // of the last poll()
  NodeId last_target_ = kNoNode;
  std::uint32_t last_bit_ = 0;
};

}  // namespace fibocast

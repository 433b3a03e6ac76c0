#include "runtime/node/news_desk.h"

#include <bit>

#include "collectives/check.h"
#include "transport/memory_carver.h"

namespace fibocast {

namespace {

// The memory's layout: links of the queue behind the entries.
template <class Entry>
std::span<std::byte> behind_entries(std::span<std::byte> memory, const Limits& limits) {
  return memory.subspan(carved_bytes<Entry>(limits.nodes));
}

}  // namespace

std::size_t NewsDesk::bytes_needed(const Limits& limits) {
  return carved_bytes<NewsEntry>(limits.nodes) + carved_bytes<NodeId>(limits.nodes);
}

NewsDesk::NewsDesk(const Limits& limits, NodeId self, std::uint32_t nodes, std::uint64_t incarnation,
                   std::span<std::byte> memory)
    : self_(self),
      nodes_(nodes),
      entries_(MemoryCarver(memory).take<NewsEntry>(limits.nodes)),
      queue_(MemoryCarver(behind_entries<NewsEntry>(memory, limits)).take<NodeId>(limits.nodes)) {
  check(self < nodes && nodes <= limits.nodes && nodes <= 1u << kFingers);
  entries_[self].incarnation = incarnation;
  fingers_.fill(kNoNode);
}

void NewsDesk::grow(std::uint32_t nodes) {
  check(nodes >= nodes_ && nodes <= entries_.size());
  nodes_ = nodes;
  fingers_stale_ = true;
}

News NewsDesk::latest(NodeId subject) const {
  const NewsEntry& e = entries_[subject];
  return {subject, e.incarnation, e.life, e.belief};
}

void NewsDesk::start_over(NodeId subject, std::uint64_t incarnation) {
  NewsEntry& e = entries_[subject];
  e = {.incarnation = incarnation, .present = e.present};
}

void NewsDesk::set_present(NodeId node, bool present) {
  if (entries_[node].present == present) return;
  entries_[node].present = present;
  fingers_stale_ = true;
}

NodeId NewsDesk::successor() {
  refresh_fingers();
  return fingers_[0];
}

bool NewsDesk::learn(const News& news, NodeId from) {
  if (!supersedes(news, latest(news.subject))) return false;
  refresh_fingers();
  NewsEntry& e = entries_[news.subject];
  e.life = news.life;
  e.belief = news.belief;
  std::uint32_t bits = kEveryFinger;
  for (std::uint32_t i = 0; i < kFingers; ++i)
    if (fingers_[i] == from) bits &= ~(1u << i);
  owe(news.subject, bits);
  return true;
}

void NewsDesk::tell_fingers(NodeId subject) { owe(subject, kEveryFinger); }

void NewsDesk::tell_successor(NodeId subject) { owe(subject, 1); }

void NewsDesk::tell_subject(NodeId subject) { owe(subject, kToSubject); }

void NewsDesk::answer(NodeId asker, NodeId subject) {
  if (subject == self_) return owe(asker, kAboutSelf);  // many may accuse us: a bit for each
  entries_[subject].asker = asker;
  owe(subject, kToAsker);
}

void NewsDesk::owe(NodeId subject, std::uint32_t bits) {
  entries_[subject].owed |= bits;
  queue_.push(subject);
}

bool NewsDesk::poll(NodeId& to, News& news) {
  refresh_fingers();
  for (std::uint32_t left = queue_.size(); left > 0; --left) {
    const NodeId subject = queue_.pop();
    const bool taken = take(subject, to, news);
    if (entries_[subject].owed != 0) queue_.push(subject);
    if (taken) return true;
  }
  return false;
}

// The first thing owed about `subject` whose target is not blocked; what has no target any more is dropped.
bool NewsDesk::take(NodeId subject, NodeId& to, News& news) {
  NewsEntry& e = entries_[subject];
  for (std::uint32_t rest = e.owed; rest != 0; rest &= rest - 1) {
    const std::uint32_t bit = rest & -rest;
    const NodeId target_node = target(subject, bit);
    if (target_node != kNoNode && entries_[target_node].blocked) continue;
    e.owed &= ~bit;
    if (target_node == kNoNode) continue;
    to = last_target_ = target_node;
    news = latest(bit == kAboutSelf ? self_ : subject);
    last_subject_ = subject;
    last_bit_ = bit;
    return true;
  }
  return false;
}

NodeId NewsDesk::could_not_tell() {
  check(last_target_ != kNoNode);
  entries_[last_target_].blocked = true;
  owe(last_subject_, last_bit_);
  return last_target_;
}

// kNoNode: nobody to tell. That it is alive is no news for the subject itself.
NodeId NewsDesk::target(NodeId subject, std::uint32_t bit) const {
  NodeId node = subject;  // kToSubject, kAboutSelf
  if (bit == kToAsker) node = entries_[subject].asker;
  if ((bit & kEveryFinger) != 0) node = fingers_[std::countr_zero(bit)];
  if (node == kNoNode || !entries_[node].present) return kNoNode;
  return node == subject && bit != kAboutSelf && entries_[subject].belief == Belief::kAlive ? kNoNode : node;
}

NodeId NewsDesk::present_after(NodeId node) const {
  for (std::uint32_t i = 1; i < nodes_; ++i) {
    const NodeId next = (node + i) % nodes_;
    if (next == self_) return kNoNode;
    if (entries_[next].present) return next;
  }
  return kNoNode;
}

void NewsDesk::refresh_fingers() {
  if (!fingers_stale_) return;
  fingers_stale_ = false;
  fingers_.fill(kNoNode);
  fingers_[0] = present_after(self_);
  if (fingers_[0] != kNoNode) fingers_[1] = present_after(fingers_[0]);
  for (std::uint32_t i = 2; i < kFingers && (1u << i) < nodes_; ++i) {
    const NodeId node = (self_ + (1u << i)) % nodes_;
    if (entries_[node].present && node != fingers_[0] && node != fingers_[1]) fingers_[i] = node;
  }
}

}  // namespace fibocast

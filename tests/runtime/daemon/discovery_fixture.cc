#include "tests/runtime/daemon/discovery_fixture.h"

#include <algorithm>

namespace fibocast {

Discovery::Address DiscoveryTest::address(int last) {
  return boost::asio::ip::make_address("10.0.0." + std::to_string(last));
}

DiscoveryTest::Box& DiscoveryTest::add(int last, const std::string& host) {
  Box& box = boxes_.emplace_back();
  box.disk.id = random_() | 1;
  box.home = last;
  box.at = address(last);
  box.host = host;
  start(box);
  return box;
}

void DiscoveryTest::start(Box& box) {
  box.in_name = true;
  box.replaced = false;
  box.process = std::make_unique<Discovery>(Discovery::Who{expect_, 7117, box.host}, box.disk, false, handlers(box));
}

void DiscoveryTest::remove_all() {
  boxes_.clear();
  letters_.clear();
  formed_.clear();
}

void DiscoveryTest::remove(Box& box) {
  kill(box);
  box.in_name = false;
}

Discovery::Handlers DiscoveryTest::handlers(Box& box) {
  return {.send =
              [this, &box](const Discovery::Address& to, const DiscoveryMessage& message) {
                const auto read = read_message("test", write_message("test", message));  // as on the wire
                ASSERT_TRUE(read);
                letters_.push_back({box.at, to, *read});
              },
          .keep = [&box](const DiscoveryState& state) { box.disk = state; },
          .random = [this] { return random_() | 1; },
          .is_connected = [this, &box](NodeId rank) { return connected(box, rank); },
          .on_moved = [&box](NodeId rank, const NodeAddress& to) { box.moved[rank] = to.address.to_string(); },
          .on_replaced = [&box] { box.replaced = true; }};
}

DiscoveryTest::Box* DiscoveryTest::at(const Discovery::Address& address) {
  for (Box& box : boxes_)
    if (box.process && box.at == address) return &box;
  return nullptr;
}

bool DiscoveryTest::connected(const Box& box, NodeId rank) {
  for (const Box& other : boxes_)
    if (is_member(other) && !other.replaced && other.process->rank() == rank) return !box.cut_off && !other.cut_off;
  return false;
}

void DiscoveryTest::ticks(int count) {
  for (int i = 0; i < count; ++i) {
    std::vector<Discovery::Address> name;
    for (const Box& box : boxes_)
      if (box.in_name) name.push_back(box.at);
    std::shuffle(name.begin(), name.end(), random_);
    name.resize(std::min(name.size(), most_named_));
    for (Box& box : boxes_) {
      if (box.replaced) kill(box);
      if (!box.process) continue;
      box.process->on_names(name);
      box.process->tick();
      check();
    }
    deliver();
  }
}

void DiscoveryTest::deliver() {
  while (!letters_.empty()) {
    const Letter letter = letters_.front();
    letters_.pop_front();
    before_(letter.message);
    Box* to = at(letter.to);
    const Box* from = at(letter.from);
    const bool cut = (to && to->cut_off) || (from && from->cut_off);
    const bool lost = std::uniform_real_distribution<>(0, 1)(random_) < loss_;
    if (!to || cut || lost || swallow_(letter.message)) continue;
    to->process->on_message(letter.from, letter.message);
    check();
  }
}

void DiscoveryTest::check() {
  std::set<NodeId> taken;
  for (const Box& box : boxes_) {
    if (box.disk.list.is_formed()) formed_.insert(box.disk.list.cluster);
    if (!is_member(box) || box.replaced || box.cut_off) continue;
    ASSERT_TRUE(taken.insert(box.process->rank()).second) << "two daemons have rank " << box.process->rank();
  }
  ASSERT_LE(formed_.size(), 1u) << "the cluster formed twice";
}

bool DiscoveryTest::until(const std::function<bool()>& holds, int count) {
  for (int i = 0; i < count && !holds() && !HasFatalFailure(); ++i) ticks(1);
  return holds() && !HasFatalFailure();
}

bool DiscoveryTest::all_members() {
  return std::all_of(boxes_.begin(), boxes_.end(), [this](const Box& box) { return is_member(box); });
}

}  // namespace fibocast

// Daemons that look for their ranks, in virtual time: a name, a network that may lose messages, disks, and processes
// that are killed and started. After every message it is checked that no rank is two daemons' and that one cluster
// formed.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "runtime/daemon/discovery.h"

namespace fibocast {

class DiscoveryTest : public ::testing::Test {
 protected:
  struct Box {  // a container: its disk, its address, and its process while it runs
    DiscoveryState disk;
    int home = 0;  // the address it began with
    Discovery::Address at;
    std::string host = "-";
    std::unique_ptr<Discovery> process;
    bool in_name = false;   // the name stands for it too
    bool cut_off = false;   // nothing gets in or out
    bool replaced = false;  // it was told to end
    std::map<NodeId, std::string> moved;
  };

  // A new container at 10.0.0.`last`; it runs and the name stands for it.
  Box& add(int last, const std::string& host = "-");
  void start(Box& box);
  void kill(Box& box) { box.process.reset(); }
  void remove_all();      // and nothing is known any more
  void remove(Box& box);  // killed, and gone from the name
  void move(Box& box, int last) { box.at = address(last); }
  void ticks(int count);
  // Ticks until it holds; false: not within `count`.
  bool until(const std::function<bool()>& holds, int count = 200);
  bool all_members();
  bool is_member(const Box& box) const { return box.process && box.process->is_member(); }
  static Discovery::Address address(int last);

  std::uint32_t expect_ = 3;
  double loss_ = 0;
  std::size_t most_named_ = 1000;  // addresses in one answer of the resolver
  std::mt19937_64 random_{1};
  std::deque<Box> boxes_;
  std::function<bool(const DiscoveryMessage&)> swallow_ = [](const DiscoveryMessage&) { return false; };
  std::function<void(const DiscoveryMessage&)> before_ = [](const DiscoveryMessage&) {};  // each delivery

 private:
  struct Letter {
    Discovery::Address from, to;
    DiscoveryMessage message;
  };
  Discovery::Handlers handlers(Box& box);
  Box* at(const Discovery::Address& address);
  bool connected(const Box& box, NodeId rank);
  void deliver();
  void check();

  std::deque<Letter> letters_;
  std::set<std::uint64_t> formed_;
};

}  // namespace fibocast

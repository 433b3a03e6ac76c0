// AddressWatch with a resolver of the test's: names move, numbers do not.
#include "runtime/daemon/address_watch.h"

#include <gtest/gtest.h>

#include <boost/asio/post.hpp>
#include <map>
#include <set>

namespace fibocast {
namespace {

using boost::asio::ip::make_address;

class Names : public testing::Test {
 protected:
  AddressWatch::Handlers handlers() {
    return {.look_up = [this](const std::string& node, AddressWatch::Found found) { look_up(node, found); },
            .is_connected = [this](NodeId peer) { return connected_.contains(peer); },
            .on_moved = [this](NodeId peer, const NodeAddress& to) { moved_[peer].push_back(to.address.to_string()); }};
  }
  void look_up(const std::string& node, const AddressWatch::Found& found) {
    looked_up_.push_back(node);
    boost::asio::post(io_, [this, found, node] {
      if (known_.contains(node))
        found(known_[node]);
      else
        found({});
    });
  }

  boost::asio::io_context io_;
  std::map<std::string, NodeAddress> known_;
  std::set<NodeId> connected_;
  std::vector<std::string> looked_up_;
  std::map<NodeId, std::vector<std::string>> moved_;
};

TEST_F(Names, OfThoseWhoAreNotConnectedAreLookedUpInTurn) {
  const std::vector<std::string> nodes = {"one:7777", "two:7777", "10.0.0.3:7777", "four:7777", "five:7777"};
  const std::vector<NodeAddress> addresses(5, {make_address("10.0.0.1"), 7777});
  AddressWatch watch(io_, 0, nodes, addresses, handlers(), std::chrono::milliseconds(1));
  connected_ = {1};
  known_["four:7777"] = {make_address("10.0.0.44"), 7777};
  known_["five:7777"] = addresses[4];  // where it was
  watch.start();
  while (looked_up_.size() < 4) io_.run_one();
  watch.stop();
  io_.run();
  EXPECT_EQ(looked_up_, (std::vector<std::string>{"four:7777", "five:7777", "four:7777", "five:7777"}));
  EXPECT_EQ(moved_, (std::map<NodeId, std::vector<std::string>>{{3, {"10.0.0.44"}}}));  // told once
}

TEST_F(Names, NumbersNeedNoWatch) {
  const std::vector<std::string> numbers = {"10.0.0.1:1", "10.0.0.2:1", "[::1]:1"};
  AddressWatch watch(io_, 0, numbers, std::vector<NodeAddress>(3), handlers());
  watch.start();
  EXPECT_EQ(io_.run(), 0u) << "nothing waits";
}

TEST_F(Names, OfANodeThatIsAddedIsLookedUpUntilItIsKnown) {
  AddressWatch watch(io_, 0, {"10.0.0.1:1"}, std::vector<NodeAddress>(1), handlers(), std::chrono::milliseconds(1));
  watch.start();
  watch.add(1, "10.0.0.2:1");
  EXPECT_EQ(moved_, (std::map<NodeId, std::vector<std::string>>{{1, {"10.0.0.2"}}})) << "numbers are known at once";
  watch.add(2, "two:1");
  while (looked_up_.size() < 2) io_.run_one();
  known_["two:1"] = {make_address("10.0.0.3"), 1};
  while (moved_.size() < 2) io_.run_one();
  EXPECT_EQ(moved_[2], std::vector<std::string>{"10.0.0.3"});
}

}  // namespace
}  // namespace fibocast

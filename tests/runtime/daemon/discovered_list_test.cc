#include "runtime/daemon/discovered_list.h"

#include <gtest/gtest.h>

#include <sstream>

namespace fibocast {
namespace {

using boost::asio::ip::make_address;
using Members = std::vector<DiscoveredList::Member>;

DiscoveredList::Member member(DaemonId id, const std::string& address, const std::string& host = "-") {
  return {id, address + ":7117", {make_address(address), 7117}, host};
}

std::string order(Members members) {
  put_in_rank_order(members);
  std::string ids;
  for (const auto& m : members) ids += std::to_string(m.id) + " ";
  return ids;
}

TEST(DiscoveredList, AddressesAreOrderedAsNumbers) {
  EXPECT_EQ(order({member(1, "10.0.0.10"), member(2, "10.0.0.9"), member(3, "9.0.0.255")}), "3 2 1 ");
}

TEST(DiscoveredList, HostNamesOnlyCountWhenTheyNumberAll) {
  EXPECT_EQ(order({member(1, "10.0.0.1", "n-1"), member(2, "10.0.0.2", "n-0")}), "2 1 ");
  for (const char* other : {"n-1", "n-2", "n-", "m-0", "n-0x", "0", "-"})
    EXPECT_EQ(order({member(1, "10.0.0.1", "n-1"), member(2, "10.0.0.2", other)}), "1 2 ") << other;
}

TEST(DiscoveredList, ItsTextIsReadAgainOnlyWhole) {
  const DiscoveredList list{0xfedcba9876543210, 3, 7, {member(7, "10.0.0.1", "a"), member(8, "fd00::2")}};
  std::ostringstream out;
  write_list(out, list);
  const std::string text = out.str();
  std::istringstream in(text);
  const auto read = read_list(in);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->cluster, list.cluster);
  EXPECT_EQ(read->version, 3u);
  EXPECT_EQ(read->proposer, 7u);
  EXPECT_EQ(read->rank_of(8), NodeId{1});
  EXPECT_EQ(read->members[1].at.address.to_string(), "fd00::2");
  EXPECT_EQ(read->members[0].host, "a");
  for (std::size_t length = 0; length + 1 < text.size(); ++length) {
    std::istringstream part(text.substr(0, length));
    EXPECT_FALSE(read_list(part)) << length;
  }
}

TEST(DiscoveredList, MoreMembersThanFitAreNotRead) {
  std::istringstream in("cluster 1 proposer 1 version 0 members 99999999999\n");
  EXPECT_FALSE(read_list(in));
}

}  // namespace
}  // namespace fibocast

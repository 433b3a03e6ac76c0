#include "transport/shared_inbox.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/local/datagram_protocol.hpp>
#include <filesystem>

namespace fibocast {
namespace {

// A reference is read from the memory of whoever the ring says to write to it: a successor does not take over what an
// earlier incarnation left in it.
TEST(SharedInbox, ARingIsClaimedForTheNextIncarnationOnceAllOfTheLastOneIsRead) {
  const std::string folder = "/tmp/fibocast-inbox-" + std::to_string(getpid());
  prepare_local_folder(folder);
  {
    SharedInbox inbox = SharedInbox::create(folder, "node1", 101, 4);
    boost::asio::io_context io;
    const boost::asio::local::datagram_protocol::socket bell(io, {inbox.bell()});
    auto opened = SharedInbox::open(folder, "node1");
    ASSERT_TRUE(opened);
    const auto ring = opened->claim(0, 500);
    ASSERT_TRUE(ring);
    RingControl& control = inbox.control().ring[*ring];
    const std::vector<std::byte> frame(100, std::byte{7});
    ASSERT_TRUE(shared_ring::Writer(opened->control().ring[*ring], opened->ring(*ring)).push(frame, {}));
    EXPECT_FALSE(opened->claim(0, 501));
    EXPECT_EQ(control.writer.load(), 500u);
    shared_ring::Reader reader(control, inbox.ring(*ring));
    std::uint64_t damaged = 0;
    ASSERT_TRUE(reader.front(damaged));
    reader.pop();
    EXPECT_EQ(opened->claim(0, 501), ring);
    EXPECT_EQ(control.writer.load(), 501u);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace fibocast

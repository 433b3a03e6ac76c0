// Strangers at the ports of daemons that have a key: nothing gets in, it is counted, and barriers go on.
#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "tests/end_to_end/hostile.h"
#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

constexpr NodeId kSealed = 4;
constexpr int kConnections = 100;  // more than a daemon keeps of those that have not proved anything

class Security : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { up(); }
  void up(Words more = {}) {
    Words options = {"-n",          std::to_string(kSealed),
                     "--transport", GetParam(),
                     "--settings",  "security.key_file=" + cluster_.key_file()};
    options.insert(options.end(), more.begin(), more.end());
    cluster_.up(options);
    const Json status = cluster_.run({"status", "--json"}).json();
    for (const Json& node : status["nodes"])
      if (node.contains("peers"))
        for (const Json& peer : node["peers"]) addresses_[peer["rank"].get<NodeId>()] = peer["address"];
  }
  bool is_tcp() const { return GetParam() == std::string("tcp"); }
  Socket stranger(NodeId to) const { return is_tcp() ? Socket::tcp(addresses_[to]) : Socket::udp(addresses_[to]); }
  void expect_barriers(int count = 300) {
    const Ended ended = cluster_.run({"bench", "barrier", "--repetitions", std::to_string(count), "--quiet", "--json"});
    EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  }
  std::uint64_t counter(NodeId rank, const std::string& name) {
    auto status = cluster_.client(rank)->status();
    EXPECT_TRUE(status.ok());
    return status.ok() ? status->counters[name] : 0;
  }
  std::uint64_t all(const std::string& name) {
    std::uint64_t sum = 0;
    for (NodeId rank = 0; rank < kSealed; ++rank) sum += counter(rank, name);
    return sum;
  }
  // No frame of a stranger reached a node, and no peer was taken for another.
  void expect_untouched() {
    for (const char* name : {"node_malformed", "channel_malformed", "channel_restarts", "node_operations_failed",
                             "peers_refused", "seal_refused_misdirected"})
      EXPECT_EQ(all(name), 0u) << name;
  }
  std::string log_of(NodeId rank) const {
    std::ifstream file(cluster_.dir() + "/node-" + std::to_string(rank) + ".log");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  TestCluster cluster_;
  std::string addresses_[kSealed];
  std::mt19937 random_{1};
};

TEST_P(Security, APortScanAndRandomBytesHarmNothing) {
  {
    Meanwhile scan([&] {
      for (NodeId to = 0; to < kSealed; ++to) {
        stranger(to).send({});  // and goes
        stranger(to).send(random_bytes(random_, 2'000));
        Octets likely = random_bytes(random_, 200);  // with the first bytes of a sealed datagram
        const Octets head = is_tcp() ? Octets{100, 0, 0, 0, 0x5e, 0xf1, 1, 3} : Octets{0x5e, 0xf1, 1, 3};
        likely.insert(likely.begin(), head.begin(), head.end());
        stranger(to).send(likely);
      }
    });
    expect_barriers();
    EXPECT_TRUE(eventually([&] { return scan.times() > 10; }));
  }
  expect_untouched();
  EXPECT_GT(all(is_tcp() ? "transport_malformed" : "seal_refused_malformed"), 0u);
  EXPECT_EQ(is_tcp(), all("transport_turned_away") > 0);
}

// First messages, with a key that is unknown, forged, or not there.
TEST_P(Security, HandshakesOfStrangersAreRefusedWithoutAnAnswer) {
  Octets first(104, 0x42);
  const Octets head = {0x5e, 0xf1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0};  // from rank 1 to rank 0
  std::copy(head.begin(), head.end(), first.begin());
  if (is_tcp()) first.insert(first.begin(), {104, 0, 0, 0});
  for (int i = 0; i < 5; ++i) {
    const Socket socket = stranger(0);
    socket.send(first);
    const auto count = static_cast<std::uint64_t>(i + 1);
    EXPECT_TRUE(eventually([&] { return counter(0, "seal_refused_unknown_key") == count; }));
    char byte;
    EXPECT_LE(recv(socket.get(), &byte, 1, MSG_DONTWAIT), 0) << "nothing is answered";
  }
  const std::string log = log_of(0);
  EXPECT_NE(log.find("its key is 42424242, but this daemon has "), std::string::npos) << log;
  EXPECT_EQ(log.find("42424242"), log.rfind("42424242")) << "strangers do not fill the log: " << log;
  expect_barriers(50);
  expect_untouched();
}

// Silent and slow connections do not keep peers out, also not one that was started again.
class SecurityOfConnections : public Security {};

TEST_P(SecurityOfConnections, SlowAndSilentOnesKeepNobodyOut) {
  std::vector<Socket> held;
  for (int i = 0; i < kConnections; ++i)
    for (NodeId to = 0; to < kSealed; ++to) {
      held.push_back(stranger(to));
      if (i % 2 == 0) held.back().send({200, 0});  // the half of a length
    }
  {
    Meanwhile drip([&] {
      for (const Socket& socket : held) socket.send({0});
    });
    expect_barriers();
    kill(static_cast<pid_t>(cluster_.client(2)->status()->pid), SIGKILL);
    EXPECT_EQ(cluster_.run({"up", "--only", "2", "--quiet"}).exit_code, 0);
    EXPECT_TRUE(eventually([&] { return cluster_.client(2)->status()->connected == kSealed - 1; }));
    expect_barriers(50);
  }
  EXPECT_GT(counter(0, "transport_turned_away"), 0u);
  EXPECT_GT(std::count_if(held.begin(), held.end(), [](const Socket& s) { return s.closed_by_peer(); }), 0);
}

// A recorded connection, from a later message on: a handshake that is refused must not be what saves us.
Octets without_first(const Octets& stream, std::size_t messages) {
  std::size_t at = 0;
  for (; messages > 0 && at + 4 < stream.size(); --messages)
    at += 4 + (stream[at] | stream[at + 1] << 8 | stream[at + 2] << 16 | stream[at + 3] << 24);
  return {stream.begin() + static_cast<std::ptrdiff_t>(std::min(at, stream.size())), stream.end()};
}

TEST_P(Security, ReplayedTrafficIsRefused) {
  Capture capture(is_tcp());
  if (!capture.is_possible()) GTEST_SKIP() << "recording needs root";
  cluster_.run({"down"});
  capture.take();
  up();  // with its handshakes
  expect_barriers(50);
  std::vector<Capture::Sent> recorded = capture.take();
  std::erase_if(recorded, [&](const Capture::Sent& d) {
    return std::none_of(std::begin(addresses_), std::end(addresses_),
                        [&](const std::string& a) { return ntohs(address_of(a).sin_port) == d.port; });
  });
  ASSERT_GE(recorded.size(), is_tcp() ? kSealed * (kSealed - 1) / 2 : 200u);
  const std::uint64_t opened_before = all("seal_sessions");
  {
    std::size_t next = 0;
    Meanwhile replay([&] {
      const Capture::Sent& d = recorded[next++ % recorded.size()];
      const std::string to = "127.0.0.1:" + std::to_string(d.port);
      if (is_tcp())
        Socket::tcp(to).send(without_first(d.bytes, next / recorded.size()));
      else
        Socket::udp(to).send(d.bytes);
    });
    expect_barriers();
    EXPECT_TRUE(eventually([&] { return static_cast<std::size_t>(replay.times()) > 2 * recorded.size(); }));
  }
  // A connection ends with the first message that is refused.
  EXPECT_TRUE(eventually([&] { return all("seal_refused_replayed") > recorded.size() / 2; }));
  EXPECT_GT(all("seal_refused_old_first"), 0u) << "its handshakes too";
  EXPECT_EQ(all("seal_sessions"), opened_before) << "no session was set up or renewed";
  expect_untouched();
}

// A daemon with another key, or none, in the place of a right one.
TEST_P(Security, ADaemonWithTheWrongKeyStaysOutside) {
  for (const bool has_key : {true, false}) {
    cluster_.run({"down"});
    up({"--hold", "3"});
    const std::string file = cluster_.dir() + "/node-3.toml", wrong = cluster_.file("wrong");
    Running({"fibocast", "key", "generate", wrong}, {}, cluster_.file("")).wait();
    std::ifstream in(file);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::string right = "key_file = \"" + cluster_.key_file() + "\"";
    text.replace(text.find(right), right.size(), has_key ? "key_file = \"" + wrong + "\"" : "mode = \"insecure\"");
    const std::string own = cluster_.file("stranger.toml");
    std::ofstream(own) << text;
    const Running daemon({"fibocastd", "--config", own}, {}, cluster_.file(""));
    const std::string counted = has_key ? "seal_refused_unknown_key" : "seal_refused_not_sealed";
    EXPECT_TRUE(eventually([&] { return counter(0, counted) > 0; }));
    EXPECT_NE(log_of(0).find("give all daemons the same security.key_file"), std::string::npos);
    std::shared_ptr<Client> clients[3];
    std::unique_ptr<Group> groups[3];
    for (NodeId rank = 0; rank < 3; ++rank) clients[rank] = cluster_.client(rank);
    create_work("all", clients, groups);
    for (int i = 0; i < 20; ++i) {
      std::vector<std::thread> members;
      for (auto& group : groups) members.emplace_back([&group] { EXPECT_TRUE(group->barrier(kPatience).status.ok()); });
      for (std::thread& member : members) member.join();
    }
    const auto stranger = cluster_.client(3);
    ASSERT_TRUE(stranger);
    auto outside = stranger->status();
    ASSERT_TRUE(outside.ok());
    EXPECT_EQ(outside->connected, 0u);
    EXPECT_EQ(cluster_.client(0)->status()->connected, 2u);
  }
}

INSTANTIATE_TEST_SUITE_P(Transports, SecurityOfConnections, testing::Values("tcp"));
INSTANTIATE_TEST_SUITE_P(Transports, Security, testing::Values("udp", "tcp"),
                         [](const auto& transport) { return std::string(transport.param); });

// A user who is not of the daemon's group; the file's mode is opened so that only the daemon's own check is left.
TEST(LocalSocket, IsForTheDaemonsUserAndGroupOnly) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  TestCluster cluster;
  cluster.up({"-n", "1"});
  const std::string path = cluster.dir() + "/node-0.sock";
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777u, 0660u);
  chmod(path.c_str(), 0666);
  for (std::string folder = cluster.dir(); folder.size() > 5; folder = std::filesystem::path(folder).parent_path())
    chmod(folder.c_str(), 0755);
  const auto is_let_in = [&](gid_t main, std::vector<gid_t> more) {
    const pid_t child = fork();
    if (child == 0) {
      const bool changed = setgroups(more.size(), more.data()) == 0 && setgid(main) == 0 && setuid(65'534) == 0;
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
      const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
      if (!changed || connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) _exit(2);
      // A request that cannot be read is answered before the connection is closed; a stranger hears nothing.
      const char garbage[] = "\x04\0\0\0\xff\xff\xff\xff";
      char answer;
      [[maybe_unused]] const auto sent = send(socket, garbage, sizeof garbage - 1, MSG_NOSIGNAL);
      _exit(recv(socket, &answer, 1, 0) == 1 ? 1 : 0);
    }
    int how = 0;
    waitpid(child, &how, 0);
    return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
  };
  EXPECT_EQ(is_let_in(65'534, {}), 0);
  EXPECT_EQ(cluster.client(0)->status()->counters["clients_strangers"], 1u);
  EXPECT_EQ(is_let_in(info.st_gid, {}), 1) << "its main group";
  EXPECT_EQ(is_let_in(65'534, {1234, info.st_gid}), 1) << "another of its groups";
}

}  // namespace
}  // namespace fibocast

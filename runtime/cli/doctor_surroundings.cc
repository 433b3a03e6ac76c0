#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <chrono>
#include <climits>
#include <ctime>
#include <filesystem>

#include "runtime/cli/doctor.h"
#include "runtime/daemon/local_path.h"
#include "transport/monotonic_now.h"
#include "transport/sealing_transport.h"
#include "transport/udp_transport.h"

namespace fibocast {
namespace {

using boost::asio::ip::udp;
using boost::system::error_code;

constexpr std::size_t kLargestDatagram = 1400;  // between hosts, unsealed (PROTOCOL.md)
constexpr std::size_t kIpv4Heads = 28, kIpv6Heads = 48;
constexpr std::time_t kTooEarly = 1'704'067'200;  // 2024: this program is younger
constexpr int kClockReadings = 100'000;
constexpr std::uint64_t kLeastSharedMemory = 64 << 20;

template <class Protocol>
error_code try_to_listen(const HostPort& at) {
  boost::asio::io_context io;
  error_code error;
  typename Protocol::resolver resolver(io);
  const auto found = resolver.resolve(at.host, std::to_string(at.port), Protocol::resolver::passive, error);
  if (error) return error;
  typename Protocol::socket socket(io);
  socket.open(found.begin()->endpoint().protocol(), error);
  if constexpr (std::is_same_v<Protocol, boost::asio::ip::tcp>)
    if (!error) socket.set_option(boost::asio::socket_base::reuse_address(true), error);
  if (!error) socket.bind(found.begin()->endpoint(), error);
  return error;
}

// Of the path to an address, as the kernel knows it; 0: there is no way.
int path_mtu(const udp::endpoint& to) {
  boost::asio::io_context io;
  udp::socket socket(io);
  error_code error;
  socket.open(to.protocol(), error);
  if (!error) socket.connect(to, error);
  if (error) return 0;
  const bool v6 = to.address().is_v6();
  int mtu = 0;
  socklen_t length = sizeof mtu;
  const int result = v6 ? getsockopt(socket.native_handle(), IPPROTO_IPV6, IPV6_MTU, &mtu, &length)
                        : getsockopt(socket.native_handle(), IPPROTO_IP, IP_MTU, &mtu, &length);
  return result == 0 ? mtu : 0;
}

std::size_t needed_mtu(const Patient& patient, const boost::asio::ip::address& address) {
  const bool sealed = patient.node ? !patient.node->keys.empty() : !patient.settings->security.key_file.empty();
  return kLargestDatagram + (sealed ? SealingTransport::kOverhead : 0) + (address.is_v6() ? kIpv6Heads : kIpv4Heads);
}

std::string peer_text(NodeId rank, const std::string& address) {
  return "rank " + std::to_string(rank) + " (" + address + ")";
}

// Nothing if it is wide enough; the narrowest path so far goes to `narrowest`.
std::optional<Check> check_path(const Patient& patient, NodeId rank, const std::string& address, int& narrowest) {
  const auto at = parse_host_port(address);
  boost::asio::io_context io;
  error_code error;
  udp::resolver::results_type found;
  if (at) found = udp::resolver(io).resolve(at->host, std::to_string(at->port), error);
  if (found.empty())
    return Check{"mtu", Health::kWrong,
                 peer_text(rank, address) + " has no address" + (error ? ": " + error.message() : ""),
                 "put its name into DNS or /etc/hosts, or its address into cluster.nodes"};
  const udp::endpoint to = found.begin()->endpoint();
  const int mtu = path_mtu(to);
  if (mtu == 0)
    return Check{"mtu", Health::kWrong, "there is no way to " + peer_text(rank, address),
                 "look at the routes of this host: ip route get " + to.address().to_string()};
  narrowest = std::min(narrowest, mtu);
  const std::size_t needed = needed_mtu(patient, to.address());
  if (static_cast<std::size_t>(mtu) >= needed) return std::nullopt;
  return Check{"mtu", Health::kWarning,
               "packets of " + std::to_string(mtu) + " bytes fit the path to " + peer_text(rank, address) +
                   ", but this daemon sends up to " + std::to_string(needed) + ", which are then sent in pieces",
               "give the network between them an MTU of " + std::to_string(needed)};
}

bool is_monotonic() {
  Nanoseconds before = monotonic_now();
  for (int i = 0; i < kClockReadings; ++i) {
    const Nanoseconds now = monotonic_now();
    if (now < before) return false;
    before = now;
  }
  return true;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16] = "";
  tm fields{};
  std::strftime(text, sizeof text, "%F", gmtime_r(&now, &fields));
  return text;
}

std::string peer_clocks_text(const Patient& patient) {
  std::size_t same = 0;
  Nanoseconds bound = 0;
  for (const auto& [rank, clock] : patient.clocks) {
    same += clock.same ? 1 : 0;
    bound = std::max(bound, clock.bound);
  }
  const std::size_t others = patient.clocks.size() - same;
  std::string text;
  if (same > 0) text += "; " + std::to_string(same) + " peers have the same";
  if (others > 0)
    text += "; those of " + std::to_string(others) + " others are known to " + std::to_string(bound / 1000) + " us";
  return text;
}

}  // namespace

Check check_port(const Patient& patient) {
  if (!patient.settings)
    return {"port", Health::kOk, "the daemon listens; others reach it at " + patient.node->address};
  const std::string& listen = patient.settings->node.listen;
  const auto at = parse_host_port(listen);
  if (!at) return {"port", Health::kOk, "which one is found out when the daemon starts"};
  const bool tcp = patient.settings->cluster.transport == TransportKind::kTcp;
  const error_code error = tcp ? try_to_listen<boost::asio::ip::tcp>(*at) : try_to_listen<udp>(*at);
  const std::string where = listen + (tcp ? " over TCP" : " over UDP");
  const bool in_use = error == boost::asio::error::address_in_use;
  if (patient.node && in_use) return {"port", Health::kOk, where + " is in use by this daemon"};
  if (patient.node && !error)
    return {"port", Health::kWrong, where + " is free, although the daemon runs",
            "it was started with another node.listen: start it again, or name its own file with --config"};
  if (patient.node)  // of another network namespace, say
    return {"port", Health::kWarning, where + " cannot be tried from here: " + error.message(),
            "run fibocast doctor where the daemon runs, as its user"};
  if (!error) return {"port", Health::kOk, where + " is free"};
  if (in_use)
    return {"port", Health::kWrong, where + " is in use by another program",
            std::string("stop it (ss -l") + (tcp ? "tnp" : "unp") + " names it) or give another node.listen"};
  return {"port", Health::kWrong, "this user cannot listen on " + where + ": " + error.message(),
          "give an address of this host as node.listen (ip address lists them)"};
}

Checks check_mtu(const Patient& patient) {
  if (!patient.uses_udp()) return {{"mtu", Health::kOk, "TCP finds out what fits"}};
  Checks checks;
  int narrowest = INT_MAX;
  for (const auto& [rank, address] : patient.peers())
    if (auto check = check_path(patient, rank, address, narrowest)) checks.push_back(*check);
  if (!checks.empty()) return checks;
  if (narrowest == INT_MAX) return {{"mtu", Health::kOk, "there is no peer yet"}};
  return {{"mtu", Health::kOk,
           "packets of " + std::to_string(narrowest) + " bytes fit all paths; between hosts this daemon sends up to " +
               std::to_string(needed_mtu(patient, boost::asio::ip::address_v4())) + ", on loopback up to " +
               std::to_string(kLoopbackPayload + kMaxHeadBytes)}};
}

Check check_clock(const Patient& patient) {
  if (!is_monotonic())
    return {"clock", Health::kWrong, "CLOCK_MONOTONIC goes backwards", "have another clock source: dmesg | grep clock"};
  if (std::time(nullptr) < kTooEarly)
    return {"clock", Health::kWrong, "the clock says that it is before 2024",
            "set it: a key's sessions and the log's times go by it"};
  return {"clock", Health::kOk, "it goes forwards, and says that today is " + today() + peer_clocks_text(patient)};
}

Check check_receive_buffer(const Patient& patient) {
  if (!patient.uses_udp()) return {"receive-buffer", Health::kOk, "TCP has one for each connection"};
  const int asked = UdpSettings().socket_buffer_bytes, granted = granted_receive_buffer(asked);
  if (patient.node) {
    const auto drops = patient.node->counters.find("transport_kernel_drops");
    if (drops != patient.node->counters.end() && drops->second > 0)
      return {"receive-buffer", Health::kWarning,
              "it was full: the kernel has dropped " + std::to_string(drops->second) + " datagrams",
              "sysctl net.core.rmem_max=" + std::to_string(asked) + ", and start the daemon again"};
  }
  const std::string found = "this user gets " + std::to_string(granted) + " bytes of " + std::to_string(asked);
  if (granted < asked)
    return {"receive-buffer", Health::kWarning, found, "sysctl net.core.rmem_max=" + std::to_string(asked)};
  return {"receive-buffer", Health::kOk, found};
}

Check check_shared_memory(const Patient& patient) {
  const std::string name = "shared-memory";
  const std::string none = "none is shared: no other node of this host, cluster.local is off, or a network is emulated";
  if (patient.node) {
    const auto peers = patient.node->counters.find("local_peers");
    if (peers != patient.node->counters.end())
      return {name, Health::kOk, "shared with " + std::to_string(peers->second) + " nodes of this host"};
  }
  if (!patient.settings || patient.settings->cluster.local == "off") return {name, Health::kOk, none};
  const std::string folder = local_folder(*patient.settings);
  const std::string remedy = "rm -r " + folder + ", or give a folder of the daemon's user alone as cluster.local";
  struct stat info {};
  const bool exists = lstat(folder.c_str(), &info) == 0;
  if (exists && (!S_ISDIR(info.st_mode) || (info.st_mode & 077) != 0))
    return {name, Health::kWarning, folder + " is no folder that its owner alone may enter, so it is not used", remedy};
  const std::string above = std::filesystem::path(folder).parent_path();
  if (!exists && access(above.c_str(), W_OK) != 0)
    return {name, Health::kWarning, folder + " cannot be made, so no memory is shared", remedy};
  struct statvfs space {};
  const bool told = statvfs(above.c_str(), &space) == 0;
  const std::uint64_t free_bytes = told ? std::uint64_t{space.f_bavail} * space.f_frsize : 0;
  if (told && free_bytes < kLeastSharedMemory)
    return {name, Health::kWarning, above + " has only " + std::to_string(free_bytes >> 20) + " MiB left",
            "make it larger (docker run --shm-size), or cluster.local = \"off\""};
  return {name, Health::kOk, patient.node ? none : folder + " can be used"};
}

}  // namespace fibocast

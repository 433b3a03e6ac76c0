#include "runtime/client/direct_group.h"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/udp.hpp>

#include "runtime/client/embedded_node.h"
#include "runtime/client/translate.h"
#include "runtime/daemon/cluster_addresses.h"
#include "runtime/daemon/key_file.h"
#include "runtime/daemon/settings.h"
#include "runtime/wire/client.pb.h"
#include "transport/close_on_exec.h"
#include "transport/little_endian.h"

namespace fibocast {
namespace {

using boost::asio::ip::udp;

constexpr std::uint32_t kDirectVersion = 1;
constexpr std::size_t kRecordBytes = 384;  // of a DirectMember after its length: a host has at most 253 characters
constexpr std::chrono::milliseconds kLastMoment{1};

// One deadline for several steps: each gets what is left.
class Patience {
 public:
  explicit Patience(Duration whole) : whole_(whole) {}
  Duration left() const {
    if (whole_.count() <= 0) return {};  // the node's default, for each step
    return std::max<Duration>(kLastMoment, whole_ - (std::chrono::steady_clock::now() - begin_));
  }

 private:
  Duration whole_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

Status refused(const std::string& name, Code code, const std::string& why) {
  return {code, "open_direct '" + name + "': " + why, {}};
}

// What cannot be is said before anything is sent.
Status check_direct(const GroupInfo& group, const NodeInfo& node, const Client::DirectOptions& options) {
  if (node.address.empty())
    return refused(group.name, Code::kRefused, "the daemon is of version " + node.version + "; update the daemons");
  if (node.transport != "udp")
    return refused(group.name, Code::kRefused,
                   "the cluster's transport is " + node.transport + ", and this needs udp; use open()");
  if (group.participants > 1 || group.routers > 0)
    return refused(group.name, Code::kInvalid,
                   "this is for groups with one participant at each node and no routers; use open()");
  if (options.host.size() > 253)
    return refused(group.name, Code::kInvalid,
                   "no host's name has " + std::to_string(options.host.size()) + " characters; at most 253");
  return {};
}

std::string host_of(const std::string& address) {
  const auto found = parse_host_port(address);
  return found ? found->host : std::string();
}

std::string host_port(const std::string& host, std::uint16_t port) {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]:" : host + ":") + std::to_string(port);
}

// On loopback only this host reaches it, as with daemons.
udp::socket bind_socket(boost::asio::io_context& io, const std::string& host) {
  const NodeAddress own = resolve_address(io, "host", host_port(host, 0));
  const udp protocol = own.address.is_v6() ? udp::v6() : udp::v4();
  const bool loopback = own.address.is_loopback();
  udp::socket socket(io, loopback ? udp::endpoint(own.address, 0) : udp::endpoint(protocol, 0));
  close_on_exec(socket.native_handle());
  return socket;
}

// Records have one length, as the blocks of an allgather must.
std::vector<std::byte> pack(const client::DirectMember& member) {
  std::vector<std::byte> record(kRecordBytes);
  little_endian::put(record.data(), static_cast<std::uint16_t>(member.ByteSizeLong()));
  member.SerializeToArray(record.data() + 2, static_cast<int>(kRecordBytes - 2));
  return record;
}

bool unpack(std::span<const std::byte> record, client::DirectMember& member) {
  const std::size_t length = little_endian::get<std::uint16_t>(record.data());
  return length <= record.size() - 2 && member.ParseFromArray(record.data() + 2, static_cast<int>(length));
}

class DirectStart {
 public:
  DirectStart(Client& client, Group group, const Client::DirectOptions& options)
      : client_(client), group_(std::move(group)), options_(options), patience_(options.deadline) {}
  ~DirectStart() { sodium_memzero(node_.key_text.data(), node_.key_text.size()); }

  Result<Group> run() {
    auto node = client_.status();
    if (!node.ok()) return node.status();
    if (Status status = check_direct(group_.info(), *node, options_); !status.ok()) return status;
    boost::asio::io_context io;
    udp::socket socket = bind_socket(io, options_.host.empty() ? host_of(node->address) : options_.host);
    if (Status status = meet(*node, socket.local_endpoint().port()); !status.ok()) return status;
    if (Status status = agree_on_model(node->model); !status.ok()) return status;
    node_.rank = group_.rank();
    node_.cluster = node->cluster + "/" + group_.name();
    node_.local = options_.local;
    node_.executor = options_.executor;
    node_.socket = socket.native_handle();
    auto started = EmbeddedNode::start(node_);
    if (!started.ok()) return refused(group_.name(), started.status().code, started.status().sentence);
    return open_at(**started);
  }

 private:
  // Everybody's address, and the key.
  Status meet(const NodeInfo& node, std::uint16_t port) {
    std::array<std::byte, kKeyBytes> secret;
    randombytes_buf(secret.data(), secret.size());
    client::DirectMember self;
    self.set_version(kDirectVersion);
    self.set_address(host_port(options_.host.empty() ? host_of(node.address) : options_.host, port));
    if (!node.keys.empty()) self.set_secret(secret.data(), secret.size());
    OperationOptions all;
    all.label = "open_direct";
    Outcome outcome = group_.allgather(pack(self), patience_.left(), all);
    sodium_memzero(secret.data(), secret.size());
    if (outcome.ok()) outcome.status = take(outcome.payload, !node.keys.empty());
    sodium_memzero(outcome.payload.data(), outcome.payload.size());
    return outcome.status;
  }

  Status take(std::span<const std::byte> records, bool sealed) {
    const std::string& name = group_.name();
    if (records.size() != std::size_t{group_.size()} * kRecordBytes)
      return refused(name, Code::kPeerLost, "the group goes on without some of its members; call when they are back");
    crypto_generichash_state hash;
    crypto_generichash_init(&hash, nullptr, 0, kKeyBytes);
    for (Rank rank = 0; rank < group_.size(); ++rank) {
      client::DirectMember member;
      if (!unpack(records.subspan(rank * kRecordBytes, kRecordBytes), member) || member.version() != kDirectVersion)
        return refused(name, Code::kRefused,
                       "rank " + std::to_string(rank) + " has another version of the library; give all the same");
      if (member.secret().size() != (sealed ? kKeyBytes : 0))
        return refused(name, Code::kRefused,
                       "the daemon of rank " + std::to_string(rank) + " has " +
                           (sealed ? "no key, and others have" : "a key, and others have none"));
      node_.nodes.resize(rank);
      node_.nodes.push_back(member.address());
      crypto_generichash_update(&hash, reinterpret_cast<const unsigned char*>(member.secret().data()),
                                member.secret().size());
    }
    node_.insecure = !sealed;
    if (sealed) take_key(hash);
    return {};
  }

  void take_key(crypto_generichash_state& hash) {
    std::array<std::byte, kKeyBytes> key;
    crypto_generichash_final(&hash, reinterpret_cast<unsigned char*>(key.data()), key.size());
    node_.key_text = KeyRing(ClusterKey(key)).print();
    sodium_memzero(key.data(), key.size());
  }

  // Daemons may have been told another one at different times: that of rank 0 is for all.
  Status agree_on_model(const NodeModel& own) {
    client::SetModel model;
    encode(own, model);
    const std::string text = group_.rank() == 0 ? model.SerializeAsString() : std::string();
    const Outcome outcome = group_.multicast(0, std::as_bytes(std::span(text)), patience_.left());
    if (!outcome.ok()) return outcome.status;
    if (group_.rank() != 0 && !model.ParseFromArray(outcome.payload.data(), static_cast<int>(outcome.payload.size())))
      return refused(group_.name(), Code::kRefused, "rank 0 has another version of the library; give all the same");
    node_.model = decode_model(model);
    return {};
  }

  // A group that goes on without its lost members has to be created, by one of them; the others wait for it.
  Result<Group> open_at(EmbeddedNode& node) {
    const GroupInfo& info = group_.info();
    if (info.policy != "all") {
      auto all = node.open("all");
      if (!all.ok()) return all.status();
      GroupRequest request;
      request.name = info.name, request.policy = info.policy;
      for (NodeId id = 0; id < node.size(); ++id) request.nodes.push_back(id);
      Status created = node.rank() == 0 ? node.create_group(request) : Status{};
      if (created.ok()) created = all->barrier(patience_.left()).status;
      if (!created.ok()) return created;
    }
    auto group = node.open(info.name);
    if (!group.ok()) return group;
    const Outcome together = group->barrier(patience_.left());
    return together.ok() ? std::move(group) : Result<Group>(together.status);
  }

  Client& client_;
  Group group_;
  const Client::DirectOptions& options_;
  Patience patience_;
  EmbeddedNode::Options node_;
};

}  // namespace

Result<Group> make_direct_group(Client& client, Group group, const Client::DirectOptions& options) try {
  const std::string name = group.name();
  if (sodium_init() < 0) return refused(name, Code::kInvalid, "libsodium finds no source of random numbers");
  return DirectStart(client, std::move(group), options).run();
} catch (const std::exception& error) {  // a name that nobody knows, no socket left
  return Status{Code::kInvalid, std::string("open_direct: ") + error.what(), {}};
}

}  // namespace fibocast

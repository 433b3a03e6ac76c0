// Frames between nodes of one host through memory that they share (shared_inbox.h), and through another transport to
// everybody else. Which peers share memory with us shows by itself: whose inbox is found under the peer's name is
// reached through it, from the first frame on; who has none, or ends, is reached through the other transport.
//
// Who may open the folder is this user: what comes through it is as trusted as this process, and not sealed. Names are
// made of the cluster's key (make_transport.h), so that who has another key finds nothing there.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/datagram_protocol.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transport/shared_inbox.h"
#include "transport/transport.h"
#include "transport/transport_counters.h"

namespace fibocast {

struct LocalSettings {
  std::string folder;  // prepare_local_folder() has looked at it
  std::string name;    // of our inbox; hexadecimal digits
  NodeId self = 0;
  std::uint64_t incarnation = 1;
  std::uint32_t peers =
      1;  // that may share memory with us: beyond them and kMaxLocalPeers they use the other transport
};

class LocalTransport final : public Transport {
 public:
  // Makes the inbox. Throws std::system_error with a sentence. `inner` outlives it.
  LocalTransport(boost::asio::io_context& io, Transport& inner, const LocalSettings& settings);
  ~LocalTransport() override;

  // The name of a peer's inbox; empty: it cannot share memory with us. At any time.
  void set_peer(NodeId peer, std::string name);
  std::uint32_t peers_sharing() const { return sharing_; }
  const TransportCounters& counters() const { return counters_; }  // of what went through memory
  std::uint64_t bells() const { return bells_; }                   // sleepers woken

  void start(Handlers handlers) override;
  bool send(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) override;
  std::size_t max_frame(NodeId to) const override;
  std::size_t held_bytes(NodeId to) const override;
  std::size_t receive_buffer_bytes(NodeId from) const override { return inner_.receive_buffer_bytes(from); }
  void stop() override;
  bool can_poll() const override { return true; }
  bool poll() override;
  bool polls_memory() const override { return sharing_ > 0; }
  bool poll_memory() override;
  bool rest() override;
  std::span<std::byte> take_payload_memory(std::size_t bytes) override { return area_.take(bytes); }
  void give_back_payload_memory(const std::byte* block) override { area_.give_back(block); }

 private:
  struct Peer {
    std::string name;
    std::shared_ptr<SharedInbox> inbox;   // where we write
    std::shared_ptr<SharedInbox> source;  // where we read payloads from: the inbox of who wrote to us last
    std::uint32_t ring = 0;
    Nanoseconds not_before = 0;      // it is not looked for again so soon
    std::uint64_t seen_read = 0;     // of the ring, when its reader was found not to read
    Nanoseconds not_read_since = 0;  // 0: it reads
    Nanoseconds bell_at = 0;         // ... else: when it is asked whether it lives
    bool blocked = false;            // it takes no more before on_writable()
  };
  Peer* known(NodeId peer) { return peer < peers_.size() && !peers_[peer].name.empty() ? &peers_[peer] : nullptr; }
  shared_ring::Writer writer(Peer& peer);
  bool attach(NodeId id, Peer& peer);
  void detach(NodeId id, Peer& peer, bool refused);
  // kGone: nobody is there; kHeldUp: it has not read for long, or another process writes under our name.
  enum class Reader : std::uint8_t { kReads, kHeldUp, kGone };
  Reader look_at(Peer& peer);
  bool detach_unless_it_reads(NodeId id, Peer& peer);
  bool push(NodeId id, Peer& peer, std::span<const std::byte> head, std::span<const std::byte> payload);
  bool ring_bell(const Peer& peer);
  void wait_for_bell();
  void on_bell();
  bool look_at_blocked();
  bool wake(Peer& peer);
  void tell_writer(std::uint32_t ring);
  void note_writer(std::uint32_t ring);
  void forget_writer(NodeId id);
  bool take_from(std::uint32_t ring);
  bool open_source(Peer& peer, std::uint64_t incarnation);
  bool fetch(std::uint32_t ring, std::span<const std::byte> record);
  void later(std::function<void()> what);

  boost::asio::io_context& io_;
  Transport& inner_;
  LocalSettings settings_;
  SharedInbox inbox_;
  PayloadArea area_;
  std::vector<std::byte> fetched_;  // a payload that came by reference and has no place of its own
  boost::asio::local::datagram_protocol::socket bell_;
  Handlers handlers_;
  std::vector<Peer> peers_;                              // by NodeId
  std::array<std::uint64_t, kMaxLocalPeers> writers_{};  // of our rings: incarnations
  std::uint64_t unread_ = 0;                             // bit i: ring i may hold something
  std::uint32_t next_ring_ = 0;                          // the one after the ring that was read last
  std::uint32_t favourite_ = kMaxLocalPeers;             // the ring of who writes most, if anybody does
  unsigned favoured_ = 0;                                // looks there since the last one at all rings
  std::uint32_t sharing_ = 0, blocked_ = 0;
  unsigned polls_ = 0;
  bool asleep_ = false, stopped_ = false;
  TransportCounters counters_;
  std::uint64_t bells_ = 0;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);  // handlers already queued look whether we still are
};

}  // namespace fibocast

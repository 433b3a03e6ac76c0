// Nodes over TCP in virtual time: what TcpTransport and the kernels beneath it do, without a socket. Each node sends to
// each other one on the connection that it dials with the first frame, and receives on those it accepts, so two nodes
// that begin at once have one in each direction. A connection keeps the order and loses nothing while it stands; a
// sender's queue is bounded (false of send(), later on_writable); a connection that breaks loses what is on its way
// (on_reset), one that nobody answers is refused (on_refused). Who is not scheduled reads nothing, and what has come
// over several connections, broken ones too, is then read in turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "firmware_sim/event_queue.h"
#include "firmware_sim/fault.h"
#include "firmware_sim/random.h"
#include "firmware_sim/virtual_connection.h"
#include "firmware_sim/virtual_network.h"

namespace fibocast {

// As in TcpSettings, and what the kernels keep.
struct StreamSettings {
  bool used = false;  // else nodes send datagrams
  std::size_t queue_frames = 64;
  std::size_t queue_bytes = 256 * 1024;
  std::size_t held_bytes = 256 * 1024;  // of one connection, that both kernels hold
  std::uint32_t fragment_bytes = 32 * 1024;
  std::uint64_t receive_buffer_bytes = 1 << 20;  // TcpTransport::receive_buffer_bytes()
};

// One thread. `queue` and `network`, which says how long ways are and what is cut, must outlive it.
class VirtualStreams {
 public:
  using Frame = VirtualConnection::Frame;
  struct Process {
    std::function<void(NodeId peer)> on_writable, on_reset, on_refused;
  };

  VirtualStreams(EventQueue& queue, VirtualNetwork& network, const StreamSettings& settings, std::uint32_t nodes,
                 std::uint64_t seed);
  const StreamSettings& settings() const { return settings_; }

  // A node's process is there. What it reads goes to the network's receiver.
  void listen(NodeId node, Process process);
  // It ends; its host lives, tells the others, and refuses who dials.
  void end(NodeId node);
  // Not scheduled: it reads nothing, and hears of nothing until go_on().
  void stop(NodeId node);
  void go_on(NodeId node);
  // What it reads comes so late.
  void set_slowness(NodeId node, Nanoseconds late);
  // False: the queue is full now; on_writable will tell. Precondition: not full, `from` listens.
  bool send(NodeId from, NodeId to, Frame frame);
  // A fault of connections is there from now on; is healed. It must live until then.
  void begin(const Fault& fault);
  void heal(const Fault& fault);

 private:
  enum class State : std::uint8_t { kIdle, kDialling, kConnected, kWaiting };
  // A TcpSender.
  struct Sender {
    State state = State::kIdle;
    std::deque<Frame> queue;
    std::size_t queued_bytes = 0;
    bool blocked = false;
    Nanoseconds backoff = 0, again_at = 0;
    std::uint64_t attempt = 0;      // events of former ones mean nothing
    std::optional<bool> failed_as;  // while it was not scheduled; true: it was refused
    bool was_connected = false;     // ... then
    std::shared_ptr<VirtualConnection> connection;
  };
  struct Host {
    Process process;
    bool up = false, stopped = false, reading = false;
    std::uint64_t life = 0;
    Nanoseconds slowness = 0, next_read = 0, alarm = kNever;
    std::size_t turn = 0;
    std::vector<std::shared_ptr<VirtualConnection>> connections;  // accepted, in their order
  };

  Sender& sender(NodeId from, NodeId to) { return senders_[from * hosts_.size() + to]; }
  bool awake(NodeId node) const { return hosts_[node].up && !hosts_[node].stopped; }
  bool full(const Sender& s) const;
  bool is_cut(NodeId from, NodeId to) const;
  Nanoseconds time_to_read(NodeId node) const;
  void dial(NodeId from, NodeId to);
  void on_dial(NodeId from, NodeId to, std::uint64_t attempt);
  void on_dialled(NodeId from, NodeId to, std::uint64_t attempt, std::uint64_t life);
  std::shared_ptr<VirtualConnection> connect(NodeId from, NodeId to);
  void flush(NodeId from, NodeId to);
  void on_end(NodeId from, NodeId to, bool refused);
  void fail(NodeId from, NodeId to, bool was_connected, bool refused);
  void try_again(NodeId from, NodeId to);
  void unblock(NodeId from, NodeId to);
  void wake(NodeId from, NodeId to);
  void forget(NodeId from, NodeId to);
  void read(NodeId node);
  void read_later(NodeId node);
  VirtualConnection* next_to_read(Host& host);
  void reset(const Fault& fault, NodeId from, NodeId to);

  EventQueue& queue_;
  VirtualNetwork& network_;
  StreamSettings settings_;
  Random random_;
  std::vector<Host> hosts_;
  std::vector<Sender> senders_;
  std::vector<const Fault*> faults_;  // that are there now
};

}  // namespace fibocast

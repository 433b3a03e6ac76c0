// A host for one Node in virtual time: it does what the daemon does with sockets, a clock and memory - hands in the
// arena, keeps the payload bytes, drains events and frames after every call, and wakes the node at its deadline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "firmware_sim/event_queue.h"
#include "firmware_sim/kept_memory.h"
#include "firmware_sim/virtual_network.h"
#include "firmware_sim/virtual_streams.h"
#include "runtime/node/node.h"

namespace fibocast {

// One thread. `queue`, `network` and `streams`, over which its frames go if they are used, must outlive it.
class VirtualNode {
 public:
  // All kinds but kCopy, kWork, kPlace and kBufferFree, which the host answers by itself. It may call this node's
  // commands.
  using Handler = std::function<void(const Event& event)>;

  VirtualNode(EventQueue& queue, VirtualNetwork& network, VirtualStreams& streams, const Limits& limits,
              const NodeSettings& settings);
  ~VirtualNode();
  VirtualNode(const VirtualNode&) = delete;
  VirtualNode& operator=(const VirtualNode&) = delete;

  void set_handler(Handler handler) { handler_ = std::move(handler); }
  // For queries. Commands go through the functions below, which drain the node afterwards.
  const Node& node() const { return *node_; }
  bool started() const { return started_; }
  // Started and not paused: commands are taken.
  bool running() const { return started_ && !paused_; }
  std::uint64_t timer_calls() const { return timer_calls_; }
  // It asked to be woken again and again without time passing: a defect, and it is not woken any more.
  bool stuck() const { return wakes_at_once_ > kMaxWakesAtOnce; }
  std::size_t buffers_held() const { return buffers_.size(); }
  std::uint64_t most_payload_bytes() const { return most_payload_bytes_; }
  std::uint64_t most_buffers() const { return most_buffers_; }
  // Of buffers from kLargeBuffer bytes on: no payload that comes with its message and no small operation has so many,
  // so all of them count for Limits::payload_bytes.
  static constexpr std::uint64_t kLargeBuffer = 65'536;
  std::uint64_t most_large_bytes() const { return most_large_bytes_; }
  std::uint64_t places() const { return places_; }  // Event::kPlace, so far

  void start();  // at once if it is not up yet
  // -- what may happen to it (fault.h)
  // The process is gone: it hears and says nothing more.
  void stop();
  // It comes back as this incarnation, with nothing in memory. Precondition: stopped.
  void restart(std::uint64_t incarnation);
  // Not scheduled: what comes waits in the socket's buffer, as far as it fits.
  void pause();
  void resume();
  void set_slowness(Nanoseconds late);
  void jump_clock(Nanoseconds forward);
  // What its host does on purpose: it says that it ends; reads the cluster's file again, now or at its next start.
  void leave();
  void adopt_cluster(std::uint32_t nodes, std::uint64_t digest);

  Admission open_group(std::string_view name, std::uint32_t participants, GroupId& id, Generation& generation);
  Admission create_group(const GroupDefinition& definition, std::uint64_t cookie);
  Admission replan_group(std::string_view name, const Plan& plan, std::uint64_t cookie);
  Admission remove_group(std::string_view name);
  Admission call(const Call& call);
  Admission pass(const Call& call);
  void forget_call(std::uint64_t cookie);
  void abandon_call(std::uint64_t cookie, std::string_view label = {}, std::uint32_t newest_client = 0);
  Admission send_message(NodeId to, std::uint64_t tag, PayloadRange payload);
  Admission receive_message(std::optional<std::uint64_t> tag, std::uint64_t cookie);
  bool forget_receive(std::uint64_t cookie);
  void set_writable(NodeId peer, bool writable);
  // A buffer with these bytes in it, or nothing if the budget is used up just now.
  std::optional<PayloadRange> put_payload(std::span<const std::byte> bytes, BufferFor use = BufferFor::kOperation);
  std::vector<std::byte> payload(const PayloadRange& range) const;
  void release(const PayloadRange& range);

 private:
  static constexpr std::uint32_t kMaxWakesAtOnce = 100'000;
  static constexpr std::size_t kSocketBuffer = 256;  // datagrams

  Nanoseconds clock() const { return queue_.now() + ahead_; }
  void make_node();
  bool over_streams() const { return streams_.settings().used; }
  void listen();
  void listen_to_streams();
  void on_datagram(std::span<const std::byte> datagram);
  void hear(std::span<const std::byte> datagram);
  void run_timer();
  void pump();
  bool pump_once();
  void set_paths();
  void on_event(Event event);
  void copy(const Event& event);
  void spoil_place_of(std::span<const std::byte> datagram);
  void spoil(const PayloadRange& range);
  void take_back(std::uint64_t cookie);
  void transmit(const Transmit& frame);
  void schedule_timer();
  void on_alarm(Nanoseconds time);
  std::vector<std::byte>& buffer(BufferId id);

  EventQueue& queue_;
  VirtualNetwork& network_;
  VirtualStreams& streams_;
  NodeId self_;
  Limits limits_;
  NodeSettings settings_;
  KeptMemory arena_;
  std::unique_ptr<Node> node_;
  std::map<BufferId, std::vector<std::byte>> buffers_;
  std::map<BufferId, std::uint64_t> lent_;  // to the call with this cookie, see Event::kPlace
  std::set<Nanoseconds> alarms_;            // instants at which the queue will call us
  Handler handler_;
  bool started_ = false;
  bool paused_ = false;
  bool pumping_ = false;
  std::deque<std::vector<std::byte>> backlog_;  // came while it was paused
  std::vector<NodeId> came_up_;                 // over streams: their paths are to be set
  Nanoseconds slowness_ = 0;
  Nanoseconds ahead_ = 0;  // of its clock
  std::uint64_t timer_calls_ = 0;
  std::uint64_t most_payload_bytes_ = 0, most_buffers_ = 0, places_ = 0;
  std::uint64_t large_bytes_ = 0, most_large_bytes_ = 0;
  Nanoseconds last_wake_ = -1;
  std::uint32_t wakes_at_once_ = 0;
};

}  // namespace fibocast

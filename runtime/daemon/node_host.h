// Drives one Node over one Transport inside one io_context: moves frames, copies payload bytes, keeps the one alarm,
// and waits the way it is told to. It knows nothing of sessions, settings or messages, so that the daemon and the
// node embedded in an application share it.
//
// Use: construct, start(), then run() in one thread until stop(). Commands go to node() and must be followed by
// pump(). One thread: the one in run(). No heap allocation once the operations of an application repeat.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/daemon/adaptive_wait.h"
#include "runtime/daemon/alarm.h"
#include "runtime/daemon/payload_memory.h"
#include "runtime/node/node.h"
#include "transport/monotonic_now.h"
#include "transport/transport.h"

namespace fibocast {

// How a host waits for the next event (ARCHITECTURE 8: a wake-up from blocking costs some 20 us).
enum class WaitPolicy : std::uint8_t {
  kAdaptive,  // while an operation is in flight as adaptive_wait.h says, else blocked
  kBlock,
  kPoll,  // never blocked: one core for this node alone
};

// Zeroed pages from the system, touched only when used. Owns the mapping.
class MemoryArena {
 public:
  // Throws std::system_error if the system has none. The first `at_once` bytes are taken now.
  MemoryArena(std::size_t bytes, std::size_t at_once);
  ~MemoryArena();
  MemoryArena(const MemoryArena&) = delete;
  MemoryArena& operator=(const MemoryArena&) = delete;
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

class NodeHost {
 public:
  // All are called inside pump(), after the node's frames have left; they may give commands to node().
  struct Handlers {
    // A call of ours has ended. Its payload, if any, is ours to give back with release_buffer().
    std::function<void(const Event&)> on_call_done;
    // kMessage (release the range), kGroupReady, kPeerUp, kPeerRestarted, kPeerRefused,
    // kPeerLost, kPeerNewer.
    std::function<void(const Event&)> on_event;
    // Where the caller of this call wants what it gets, all of so many bytes; nothing: anywhere. The place stays good
    // until take_back(). Called in the middle of the node's work: no commands.
    std::function<std::span<std::byte>(std::uint64_t cookie, BufferId buffer, std::size_t bytes)> place_of = {};
    // All events are handled: the time to try again what was refused with kWouldBlock. True if a command was given.
    std::function<bool()> on_drained;
  };

  // `transport` outlives the host. Precondition: settings within limits (see Node).
  NodeHost(boost::asio::io_context& context, Transport& transport, const Limits& limits, const NodeSettings& settings,
           WaitPolicy wait, Handlers handlers);
  NodeHost(const NodeHost&) = delete;
  NodeHost& operator=(const NodeHost&) = delete;

  // Before start(); else 1 without clients. Waiting nodes let each other have the core: the more there are, the longer
  // that takes. Those that may have one each keep it for a while, and look for one; more, without clients, have equal
  // shares of the cores: a thread that waits may find itself on another core that its affinity allows. The calls of
  // clients come through the io_context.
  void set_nodes_of_this_host(Rank nodes, AdaptiveWait::Clients clients = AdaptiveWait::Clients::kNone);
  // How many of them share a core: a part of one is none.
  Rank nodes_of_a_core() const { return nodes_of_a_core_; }
  // Before start(), for a node that is here to work: what it writes then is taken from the system in one piece. Not for
  // daemons, which are many and mostly idle.
  void take_memory_of_work();
  // Starts the transport and the node.
  void start();
  // Runs the io_context until stop(). Sets the calling thread's timer slack to 1 ns.
  void run();
  // ... while `go_on` says so and nobody stopped it. It is asked after each event; who makes it say no from another
  // thread posts something to the io_context. Threads may take turns at this.
  void run_while(const std::function<bool()>& go_on);
  // Handles what is ready and what is due, without waiting: for who does not run(). Not if somebody who waited has
  // looked since the last time: what comes for the next call had better find it there.
  void catch_up();
  // From any thread.
  void stop();

  Node& node() { return node_; }
  // The time of the current step: read once per event.
  Nanoseconds now() const { return now_; }
  // To be called before commands that no event of the host led to (a request of a client, say).
  Nanoseconds read_clock() { return now_ = monotonic_now(); }
  // Handles every event and sends every frame the node has now. Nested calls are taken over by the outer one.
  void pump();
  // A buffer's bytes. Precondition: it exists at the node.
  std::span<std::byte> bytes_of(const PayloadRange& range);
  // The place is its caller's alone again. Nothing happens if the buffer lies elsewhere, or is none.
  void take_back(BufferId buffer, std::span<std::byte> place) { memory_.take_back(buffer, place); }
  // Fills a buffer that was just reserved, with `source`. Its owner keeps it until finish_copy(): it is sent from
  // there, or, where its bytes have to lie in the transport's memory, copied as they are sent if each node of this host
  // may have a core. Else a receiver would have to be given the core for each piece, which takes longer than all are
  // copied.
  void fill(BufferId buffer, std::span<const std::byte> source);
  void finish_copy(BufferId buffer, std::span<const std::byte> source) { memory_.finish_copy(buffer, source); }
  const PayloadMemory& payload_memory() const { return memory_; }

 private:
  std::byte* place_of(std::span<const std::byte> head, std::size_t payload_bytes);
  Nanoseconds time_of_frame();
  bool after_frame(bool taken, std::size_t bytes);
  void take_event(const Event& event);
  void find_place(const Event& event);
  void do_work(const LocalWork& work);
  bool poll_transport();
  bool drain_events();
  void drain_frames();
  void set_path(NodeId peer);
  bool deliver();
  void set_alarm();
  void run_due_timers(Nanoseconds now);
  bool is_busy();
  bool may_poll(Nanoseconds now);
  bool poll_once();
  void run_one();
  bool wait_a_little(Nanoseconds& now);
  void take_place(Nanoseconds& now);
  bool poll_for_a_while(Nanoseconds now, const std::function<bool()>& go_on);

  boost::asio::io_context& context_;
  Transport& transport_;
  MemoryArena arena_;
  Node node_;
  PayloadMemory memory_;
  NodeId self_;
  WaitPolicy wait_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> stays_;  // the io_context, until stop()
  AdaptiveWait waiting_;
  Rank nodes_of_a_core_ = 0;
  Handlers handlers_;
  Alarm alarm_;
  Nanoseconds deadline_ = kNever;   // of the node, as of the last pump()
  Nanoseconds armed_for_ = kNever;  // the alarm; it may be too early
  Nanoseconds now_ = 0;
  unsigned polls_ = 0, polls_of_all_ = 0;
  const bool emulates_;         // a machine: what comes to it is never early, so each frame has its own time
  bool clock_is_read_ = false;  // now_ is the time, until a frame has taken it
  bool polls_transport_ = false;
  bool in_flight_ = false;   // an operation, as of the last look
  bool has_polled_ = false;  // since catch_up()
  bool lingers_ = false;     // an operation has ended, and the polls after it have not
  bool stopped_ = false;     // the io_context, as of the last time it was polled
  bool pumping_ = false;
  bool gathering_ = false;  // small frames, of which `gathered_` says whether there are any
  bool gathered_ = false;
  bool has_sent_ = false;  // frames, since the last wait
  Event event_;
  std::vector<Event> undelivered_, delivering_;
  std::vector<std::byte> scratch_;
};

}  // namespace fibocast

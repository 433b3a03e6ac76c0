// Who drives a node that lives in an application: a thread of its own, or a caller that waits for its operation. A
// hand-over between threads costs more than a barrier of two nodes, so a caller drives by itself whenever nothing else
// is under way. Internal.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "runtime/daemon/node_host.h"

namespace fibocast {

// The node's thread is in run(). A caller that begin() lets in has the node for itself until end(); in between it may
// give commands to the host and drive() it. Any thread, except where said.
class Turns {
 public:
  Turns(boost::asio::io_context& context, NodeHost& host, std::chrono::nanoseconds between_calls)
      : context_(context), host_(host), between_calls_(between_calls) {}

  // After a call the next one probably comes soon: so long nobody drives, and what comes from the network waits. It is
  // well below what a peer waits before it doubts us. The node's thread looks whether calls still come each time it has
  // passed: where many nodes share the cores that would be much of what those do, so they look less often; after the
  // last call of many a peer may then have to send something again.
  static std::chrono::nanoseconds between_calls(Rank nodes_of_a_core, Nanoseconds suspicion);

  // The node's own thread, until the host is stopped.
  void run();

  // True: the node is this caller's. False: another caller has it, or somebody needs the node's thread, or this is it.
  bool begin();
  // These three only after begin() was true. Returns when done() holds, or when the node's thread is needed.
  void drive(const std::function<bool()>& done);
  // Before end(): calls that end at once may follow each other for ever, and what comes from the network is to be
  // handled now and then.
  void catch_up(Nanoseconds now);
  void end();

  // While somebody needs it the node's thread drives: handlers of asynchronous calls run there, and who was not let in
  // waits for it.
  void need_thread();
  void release_thread() { --needs_; }

  // Is the calling thread the one that drives now?
  bool is_mine() const { return driver_.load() == std::this_thread::get_id(); }

 private:
  enum class Who : std::uint8_t { kNobody, kThread, kCaller };
  bool take_for(Who who);
  bool take_from_thread();
  void give_back();
  bool thread_may_drive() const;
  void sleep(std::unique_lock<std::mutex>& lock);
  void wait_for_turn(std::unique_lock<std::mutex>& lock);

  boost::asio::io_context& context_;
  NodeHost& host_;
  std::chrono::nanoseconds between_calls_;
  std::atomic<Who> who_ = Who::kNobody;  // a caller takes and gives it back without the mutex, which is for waiting
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> caller_waits_ = false;  // for the thread to let go
  std::atomic<bool> sleeps_ = false;        // the thread, until it is told
  std::atomic<std::uint64_t> calls_ = 0;    // written by who drives
  Nanoseconds caught_up_at_ = 0;            // who drives
  std::atomic<bool> interrupted_ = false;
  std::atomic<int> needs_ = 0;
  std::atomic<std::thread::id> driver_;
};

}  // namespace fibocast

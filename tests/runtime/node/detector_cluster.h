// Many failure detectors on a bad network, in virtual time: frames are lost, delayed and reordered; nodes crash, pause,
// restart; the network is cut and healed. Everything follows from the seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <vector>

#include "runtime/node/failure_detector.h"

namespace fibocast {

inline constexpr Nanoseconds kMilli = 1'000'000;

struct BadNetwork {
  std::uint32_t loss_percent = 0;
  Nanoseconds least_delay = 50'000;
  Nanoseconds most_delay = 5 * kMilli;
  Nanoseconds resend =
      20 * kMilli;  // news and handshakes are sent again, at last 16 times as far apart, until they arrive
};

class DetectorCluster {
 public:
  // All nodes know each other at the beginning, unless `strangers`: then nobody has started.
  DetectorCluster(std::uint32_t nodes, const BadNetwork& network, std::uint64_t seed, bool strangers = false);

  std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }
  Nanoseconds now() const { return now_; }
  FailureDetector& at(NodeId n) { return *nodes_[n].detector; }
  std::uint64_t random(std::uint64_t below) { return random_() % below; }

  void start(NodeId n);                 // its process begins: a new incarnation greets everybody
  void crash(NodeId n, bool refusing);  // refusing: only the process died, its host says so
  void pause(NodeId n);                 // not scheduled: its frames wait
  void resume(NodeId n);                // reads them all, then its timer fires
  void wait_on(NodeId observer, NodeId peer);
  void no_longer_wait_on(NodeId observer, NodeId peer);
  // Whether a frame from one node to another is swallowed; nullptr: none.
  void cut(std::function<bool(NodeId from, NodeId to)> swallowed) { swallowed_ = std::move(swallowed); }
  // The test says that something was done to it, so that a wrong belief about it is no fault of the detector.
  void excuse(NodeId n) { nodes_[n].excused = true; }

  void run(Nanoseconds duration);
  // False: `done` was not true within `duration`.
  bool run_until(const std::function<bool()>& done, Nanoseconds duration);

  bool up(NodeId n) const { return nodes_[n].state == Process::kRunning; }
  bool all_running_believe(NodeId subject, Belief belief) const;
  bool nobody_running_counts_on(NodeId subject) const;  // it is lost to them, or they never met it
  bool everybody_running_is_alive_to_all() const;
  std::uint64_t frames_sent() const { return frames_; }
  std::uint64_t news_sent() const { return news_; }
  std::uint64_t false_losses() const { return false_losses_; }  // of running nodes that nothing was done to
  std::uint64_t suspicions() const;
  Nanoseconds first_refusal() const { return first_refusal_; }

 private:
  enum class Process : std::uint8_t { kNever, kRunning, kPaused, kSilent, kRefusing };
  enum class Kind : std::uint8_t { kTimer, kProbe, kAnswer, kNews, kHello, kHelloBack, kRefusal };
  struct Happening {
    Nanoseconds at = 0;
    std::uint64_t order = 0;
    Kind kind = Kind::kTimer;
    NodeId from = kNoNode;
    NodeId to = kNoNode;
    std::uint64_t from_incarnation = 0;
    std::uint64_t to_incarnation = 0;
    Nanoseconds asked_at = 0;
    std::uint32_t tries = 0;
    bool again = false;  // not an arrival: the sender sends it once more
    News news = {};
    bool operator>(const Happening& o) const { return at != o.at ? at > o.at : order > o.order; }
  };
  struct ClusterNode {
    Process state = Process::kNever;
    bool excused = false;
    std::uint64_t incarnation = 0;
    Nanoseconds timer_at = kNever;
    std::unique_ptr<std::max_align_t[]> memory;
    std::unique_ptr<FailureDetector> detector;
    std::vector<std::uint64_t> known;      // the others' incarnations
    std::vector<Nanoseconds> round_trips;  // smoothed
    std::deque<Happening> inbox;           // while it is paused
  };

  void begin(NodeId n);
  void send(Kind kind, NodeId from, NodeId to, Nanoseconds asked_at = 0, const News& news = {});
  void put_on_the_wire(Happening frame);
  void push(Happening h);
  void handle(const Happening& h);
  void arrive(const Happening& frame);
  void receive(const Happening& frame);
  void measure(NodeId at, NodeId peer, Nanoseconds round_trip);
  void drain(NodeId n);

  BadNetwork network_;
  std::mt19937_64 random_;
  std::vector<ClusterNode> nodes_;
  std::priority_queue<Happening, std::vector<Happening>, std::greater<>> happenings_;
  std::function<bool(NodeId, NodeId)> swallowed_;
  Nanoseconds now_ = 1000 * kMilli;
  std::uint64_t order_ = 0;
  std::uint64_t frames_ = 0;
  std::uint64_t news_ = 0;
  std::uint64_t false_losses_ = 0;
  Nanoseconds first_refusal_ = kNever;
};

}  // namespace fibocast

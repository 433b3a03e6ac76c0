// Which nodes are alive: the failure detector of one node. Pure: events and the time in, probes, news and changes out.
// Core: no heap, no clock; memory is handed in. Not thread-safe.
//
// Of SWIM (Das et al. 2002) it has suspicion, refutation and incarnations, of Lifeguard (Dadgar et al. 2018) that an
// observer that was itself not scheduled does not accuse. Unlike them it knows who is in the cluster, so that one
// probe of the ring's next node per idle interval is enough and the load of a node does not grow with the cluster.
//
// Whom it probes:
//   idle          the next node of the ring that is alive or suspect, when it was not heard for an idle interval (for
//                 three quarters of one when a frame of another comes then: a wake-up less)
//   anyone        every eighth idle interval one more in turn, if it was not heard for an idle interval: who watched it
//                 may have restarted and never met it
//   waited on     each such peer, when it was not heard for a waiting interval
//   in question   a peer that has not answered a probe, every waiting interval until it is heard or lost: about
//                 suspicion / waiting_interval probes. No probe is forgotten.
//   refused       refused_probes probes, refused_interval apart; more if two round trips take longer
//   lost          one lost node in turn per idle interval, and a waiting interval after one of them has come back: so
//                 a healed network is noticed, usually within one idle interval as each node begins elsewhere. The
//                 successor is told of the same one, so that nobody remains without the news whatever was cut off or
//                 died meanwhile
//   returned      a node that is heard although it is said to be lost, as one that is waited on, until it has refuted
//   beyond        while the ring's next node is silent for suspicion / 8, the one after it, and so on: neighbours that
//                 die together are found together, and at most eight are asked at a time for this reason
//
// How it judges, counted from the first unanswered probe: suspect after suspicion / 2, lost after suspicion, both plus
// four round trips. Refused and silent to the probes after that: lost. News of a loss is believed if our own probes are
// unanswered as well; else the node gets two waiting intervals to answer them, and is told what is said of it: who was
// cut off says so of everybody. If we have heard it within suspicion / 4 or were late ourselves, it gets suspicion / 4.
// Who says itself that it ends is lost at once, until it comes as a new incarnation.
// Both a loss that we are told of and a path that refuses us are enough: then it gets a single probe, if any.
//
// Use: after every call below, until they return false: poll_probe(), poll_news(), poll_change(). Then sleep until
// next_deadline() and call on_timer(), after the frames that came meanwhile. Times are of the host's monotonic clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/node/belief.h"
#include "runtime/node/news_desk.h"
#include "runtime/node/node_queue.h"

namespace fibocast {

struct DetectorSettings {
  NodeId self = 0;
  std::uint32_t nodes = 1;        // at most Limits::nodes
  std::uint64_t incarnation = 1;  // of this node, never 0
  Nanoseconds suspicion = 2'000'000'000;
  Nanoseconds idle_interval = 1'000'000'000;
  Nanoseconds waiting_interval = 25'000'000;  // at most a quarter of `suspicion`
  std::uint32_t refused_probes = 3;
  Nanoseconds refused_interval = 20'000'000;
};

struct DetectorCounters {
  std::uint64_t probes = 0;
  std::uint64_t suspicions = 0;        // peers that became suspect, by our own watch or by news
  std::uint64_t false_suspicions = 0;  // ... and then were alive
  std::uint64_t lost = 0;              // peers that became lost; restarts not included
  std::uint64_t restarts = 0;          // peers that came as a new incarnation
  std::uint64_t refutations = 0;       // times that we had to raise our own life
  std::uint64_t late = 0;              // timers that came so late that we did not judge by them
};

class FailureDetector {
 public:
  static std::size_t bytes_needed(const Limits& limits);
  // `memory`: bytes_needed(limits) bytes, aligned as MemoryCarver wants it; outlives the detector. Settings out of
  // their ranges stop the program: the host has checked them.
  FailureDetector(const Limits& limits, const DetectorSettings& settings, std::span<std::byte> memory);

  // ---- events. Peers are below settings.nodes and not this node; `now` never goes back.

  // Once, before all others: the idle interval begins.
  void start(Nanoseconds now);
  // The handshake with `peer` is done: first contact, contact again, or a new incarnation (not 0). Of a new one others
  // are told; they find out by their own handshake, which a probe brings about.
  void came(NodeId peer, std::uint64_t incarnation, Nanoseconds now);
  // A frame of the session of the incarnation that came() named. Of a peer that never came it says nothing. O(1).
  void heard(NodeId peer, Nanoseconds now);
  // The path says that nobody is there (ICMP, a refused connection): evidence that starts probes, never a verdict. More
  // of it while these are under way changes nothing.
  void refused(NodeId peer, Nanoseconds now);
  // A connection to it broke: no evidence, as its host need not have to do with it. It is probed, and refused if it is
  // gone.
  void path_broke(NodeId peer, Nanoseconds now);
  // News of nodes that never came are passed on all the same, and believed of nobody. `from`, which came() and of which
  // heard() is told too, sent us `news`. Any content: what makes no sense is ignored.
  void on_news(NodeId from, const News& news, Nanoseconds now);
  // Nodes up to this number belong to the cluster now, not fewer than before; the new ones never came.
  void grow(std::uint32_t nodes);
  // This node ends: it defends itself no more. The caller tells its peers; farewell() is what to tell.
  void leave() { leaving_ = true; }
  News farewell() const;
  // The smoothed round trip to `peer`, measured by its channel; 0 until then. What is more than suspicion / 8 counts as
  // that: a peer's pause looks like a long way, and must not put off the detection of its death.
  void set_round_trip(NodeId peer, Nanoseconds round_trip);
  // An open operation waits for `peer`, and no longer does. Counted: each wait_on() has its no_longer_wait_on(). O(1).
  void wait_on(NodeId peer, Nanoseconds now);
  void no_longer_wait_on(NodeId peer);
  // Something waits for it at this moment, and will say so again: probed if it was not heard for a waiting interval.
  void waited_on_now(NodeId peer, Nanoseconds now);
  // At next_deadline() or later. More than kLate after it, this node was itself not scheduled: silence of others is
  // then no evidence, until a probe that left at a timer in time has stayed unanswered.
  void on_timer(Nanoseconds now);
  static constexpr Nanoseconds kLate = 10'000'000;  // a scheduler's usual delay on a busy host stays below it

  // ---- outputs

  // A peer to send a frame to that it must answer at once. If it is not connected: the handshake.
  bool poll_probe(NodeId& to);
  // False: poll_probe(), poll_news() and poll_change() have nothing.
  bool has_something() const { return probes_.size() > 0 || changes_.size() > 0 || desk_.has_any(); }
  // News to send to a peer, reliably; taken as told. If its window is full, call could_not_tell() before anything
  // else: it is owed again, and nothing more is for that peer until it is heard.
  bool poll_news(NodeId& to, News& news) { return desk_.poll(to, news); }
  void could_not_tell();
  // What is believed about a peer has changed. Changes between two calls appear as one, a restart as kLost with
  // kRestarted and then kAlive.
  bool poll_change(BeliefChange& change);
  // When on_timer() is due: kNever before start().
  Nanoseconds next_deadline() const { return deadline_; }

  Belief belief(NodeId peer) const { return peers_[peer].belief; }
  // Lost, or it never came and others have lost it.
  bool is_lost_to_somebody(NodeId peer) const;
  // When the peer was last heard; 0 if never.
  Nanoseconds last_heard(NodeId peer) const { return peers_[peer].last_heard; }
  // How often this incarnation of ours has refuted.
  std::uint32_t life() const { return desk_.latest(settings_.self).life; }
  std::uint32_t lost_now() const { return lost_now_; }  // peers that are believed lost
  const DetectorCounters& counters() const { return counters_; }

 private:
  static constexpr Nanoseconds kRoundsPerStranger = 8;
  struct WatchedPeer {
    Belief belief = Belief::kUnknown;
    Belief reported = Belief::kUnknown;  // by poll_change()
    BeliefReason reason = BeliefReason::kHeard;
    bool restarted = false;   // to be reported
    bool calm = false;        // hearing it changes nothing but last_heard
    bool left = false;        // it said so: what else is heard of this incarnation was sent before
    bool challenged = false;  // it was told that it is said to be lost or suspect, and has not refuted yet
    NodeId told_by = kNoNode;
    std::uint32_t waiting = 0;  // open operations that wait for it
    Nanoseconds last_heard = 0;
    Nanoseconds round_trip = 0;
    Nanoseconds next_probe = 0;           // if it is in question
    Nanoseconds first_probe = kNever;     // the first unanswered one
    Nanoseconds sound_probe = kNever;     // the first unanswered one since we were last late
    Nanoseconds refused_until = kNever;   // then lost, unless heard
    Nanoseconds disputed_until = kNever;  // then we believe the news of its loss, unless it is heard
  };

  static bool present(const WatchedPeer& p) { return p.belief == Belief::kAlive || p.belief == Belief::kSuspect; }
  // It is looked at by timers: watched until it is heard or lost, or with each waiting interval of silence.
  static bool in_question(const WatchedPeer& p) {
    return present(p) && (p.waiting > 0 || p.challenged || p.first_probe != kNever);
  }
  static void forget_probes(WatchedPeer& p);
  Nanoseconds probe_interval(const WatchedPeer& p) const;
  Nanoseconds patience(const WatchedPeer& p) const;
  Nanoseconds refusal_time(const WatchedPeer& p) const;
  Nanoseconds dispute_time(const WatchedPeer& p) const;
  Nanoseconds answer_time(const WatchedPeer& p) const;
  Nanoseconds lost_at(const WatchedPeer& p) const;
  Nanoseconds suspect_at(const WatchedPeer& p) const;
  Nanoseconds verdict_at(const WatchedPeer& p) const;
  bool heard_lately(NodeId peer, Nanoseconds now) const;
  bool late(Nanoseconds now) const { return late_timer_ || (deadline_ != kNever && now > deadline_ + kLate); }
  void wake_at(Nanoseconds when) { deadline_ = when < deadline_ ? when : deadline_; }

  void settle(NodeId peer, Nanoseconds now);
  void rest_after(NodeId peer);
  Nanoseconds next_round() const;  // when nobody is in question
  void watch(NodeId peer, Nanoseconds now);
  void probe(NodeId peer, Nanoseconds now);
  void question(NodeId peer, Nanoseconds now);
  void judge(NodeId peer, Nanoseconds now);
  void accuse(NodeId peer, Belief belief, BeliefReason reason, Nanoseconds now);
  void set_belief(NodeId peer, Belief belief, BeliefReason reason, NodeId told_by, Nanoseconds now);

  void excuse_everybody(Nanoseconds lateness, Nanoseconds now);
  void look_at_those_in_question(Nanoseconds now);
  void look_at_neighbour(Nanoseconds now, Nanoseconds early);
  void ask_neighbour(NodeId peer, Nanoseconds now);
  void look_beyond(Nanoseconds now);
  void look_at_anyone(Nanoseconds now);
  void look_for_a_lost_one(Nanoseconds now);

  void on_news_of_self(NodeId from, const News& news);
  void on_farewell(const News& news, Nanoseconds now);
  void look_for_lost_ones_at(Nanoseconds when);
  void on_other_incarnation(const News& news, Nanoseconds now);
  void believe(NodeId from, const News& news, Nanoseconds now);
  void dispute(NodeId peer, NodeId told_by, Nanoseconds until, Nanoseconds now);

  DetectorSettings settings_;
  std::span<WatchedPeer> peers_;
  NewsDesk desk_;
  NodeQueue questioned_;  // peers in question, and some that were
  NodeQueue probes_;      // to be polled
  NodeQueue changes_;     // to be polled
  DetectorCounters counters_;
  std::uint32_t lost_now_ = 0;
  NodeId beyond_ = kNoNode;  // the last silent neighbour that look_beyond() asked
  NodeId next_anyone_;
  NodeId next_lost_;  // where the turn of the lost ones goes on
  bool late_timer_ = false;
  bool leaving_ = false;
  Nanoseconds deadline_ = kNever;
  Nanoseconds neighbour_at_ = kNever;
  Nanoseconds beyond_at_ = kNever;
  Nanoseconds anyone_at_ = kNever;
  Nanoseconds lost_one_at_ = kNever;
};

}  // namespace fibocast

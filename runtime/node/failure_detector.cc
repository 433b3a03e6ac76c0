// The detector's memory, its events and what it makes of silence. News are in failure_news.cc.
#include "runtime/node/failure_detector.h"

#include <algorithm>

#include "collectives/check.h"
#include "transport/memory_carver.h"

namespace fibocast {

namespace {

template <class T>
std::span<T> part(std::span<std::byte> memory, std::size_t offset, std::uint32_t count) {
  return MemoryCarver(memory.subspan(offset)).take<T>(count);
}

std::size_t queue_bytes(const Limits& limits) { return carved_bytes<NodeId>(limits.nodes); }

}  // namespace

// The layout: three queues, the desk, the peers.
std::size_t FailureDetector::bytes_needed(const Limits& limits) {
  return 3 * queue_bytes(limits) + NewsDesk::bytes_needed(limits) + carved_bytes<WatchedPeer>(limits.nodes);
}

FailureDetector::FailureDetector(const Limits& limits, const DetectorSettings& settings, std::span<std::byte> memory)
    : settings_(settings),
      peers_(part<WatchedPeer>(memory, 3 * queue_bytes(limits) + NewsDesk::bytes_needed(limits), limits.nodes)),
      desk_(limits, settings.self, settings.nodes, settings.incarnation, memory.subspan(3 * queue_bytes(limits))),
      questioned_(part<NodeId>(memory, 0, limits.nodes)),
      probes_(part<NodeId>(memory, queue_bytes(limits), limits.nodes)),
      changes_(part<NodeId>(memory, 2 * queue_bytes(limits), limits.nodes)),
      next_anyone_(settings.self),
      next_lost_((settings.self + settings.nodes / 2) % settings.nodes) {
  check(settings.incarnation != 0 && settings.idle_interval > 0 && settings.waiting_interval > 0);
  check(settings.suspicion >= 4 * settings.waiting_interval);
  check(settings.refused_probes > 0 && settings.refused_interval > 0);
}

void FailureDetector::start(Nanoseconds now) {
  neighbour_at_ = now + settings_.idle_interval;
  anyone_at_ = now + kRoundsPerStranger * settings_.idle_interval;
  wake_at(neighbour_at_);
}

// ---- events

void FailureDetector::grow(std::uint32_t nodes) {
  settings_.nodes = nodes;
  desk_.grow(nodes);
}

void FailureDetector::came(NodeId peer, std::uint64_t incarnation, Nanoseconds now) {
  check(peer != settings_.self && incarnation != 0);
  WatchedPeer& p = peers_[peer];
  const bool met = p.belief != Belief::kUnknown;
  const std::uint64_t former = desk_.latest(peer).incarnation;  // perhaps only heard of
  p.last_heard = now;
  p.challenged = false;  // a new session may have lost the challenge
  if (former == incarnation && p.left) return;
  if (former == incarnation) return settle(peer, now);
  p.left = false;
  desk_.start_over(peer, incarnation);
  if (met) {
    ++counters_.restarts;
    p.restarted = p.reported != Belief::kLost;
    p.reason = BeliefReason::kHeard;
    changes_.push(peer);
    desk_.tell_fingers(peer);
  }
  p.calm = false;
  settle(peer, now);
}

void FailureDetector::heard(NodeId peer, Nanoseconds now) {
  WatchedPeer& p = peers_[peer];
  if (p.belief == Belief::kUnknown || p.left) return;
  p.last_heard = now;
  if (!p.calm) settle(peer, now);
  const Nanoseconds early = settings_.idle_interval / 4;
  if (now + early < neighbour_at_) return;
  look_at_neighbour(now, early);  // awake anyway: a round now saves an idle host a wake-up of its own
  wake_at(neighbour_at_);
}

// It was heard: whatever was held against it is over, and it learns what others were told of it.
void FailureDetector::settle(NodeId peer, Nanoseconds now) {
  WatchedPeer& p = peers_[peer];
  forget_probes(p);
  desk_.unblock(peer);
  set_belief(peer, Belief::kAlive, BeliefReason::kHeard, kNoNode, now);
  if (desk_.latest(peer).belief != Belief::kAlive && !p.challenged) {
    p.challenged = true;
    desk_.tell_subject(peer);
    watch(peer, now);
  }
  p.calm = true;
  rest_after(peer);
}

// The usual end of a question. What was to happen without this answer shall not wake an idle host for nothing.
void FailureDetector::rest_after(NodeId peer) {
  if (beyond_ == peer && peers_[peer].first_probe == kNever) beyond_at_ = kNever;
  if (questioned_.size() != 1 || questioned_.front() != peer || in_question(peers_[peer])) return;
  questioned_.pop();
  deadline_ = next_round();
}

void FailureDetector::refused(NodeId peer, Nanoseconds now) {
  WatchedPeer& p = peers_[peer];
  const bool told = p.disputed_until != kNever;  // somebody else has lost it: this is the second witness
  if (!present(p) || p.refused_until != kNever) return;
  p.refused_until = told ? now : now + refusal_time(p);
  probe(peer, now);
}

void FailureDetector::path_broke(NodeId peer, Nanoseconds now) {
  if (present(peers_[peer])) probe(peer, now);
}

void FailureDetector::wait_on(NodeId peer, Nanoseconds now) {
  WatchedPeer& p = peers_[peer];
  if (p.waiting++ > 0 || !present(p)) return;
  watch(peer, now);
}

// A waiting interval from now it is probed, unless it is heard meanwhile.
void FailureDetector::watch(NodeId peer, Nanoseconds now) {
  WatchedPeer& p = peers_[peer];
  if (p.first_probe == kNever) p.next_probe = now + settings_.waiting_interval;
  questioned_.push(peer);
  wake_at(p.next_probe);
}

void FailureDetector::no_longer_wait_on(NodeId peer) {
  check(peers_[peer].waiting > 0);
  --peers_[peer].waiting;
}

void FailureDetector::waited_on_now(NodeId peer, Nanoseconds now) {
  if (now - peers_[peer].last_heard >= settings_.waiting_interval) question(peer, now);
}

void FailureDetector::set_round_trip(NodeId peer, Nanoseconds round_trip) {
  peers_[peer].round_trip = std::min(round_trip, settings_.suspicion / 8);
}

void FailureDetector::could_not_tell() { peers_[desk_.could_not_tell()].calm = false; }

// ---- probes and verdicts

void FailureDetector::forget_probes(WatchedPeer& p) {
  p.first_probe = p.sound_probe = p.refused_until = p.disputed_until = kNever;
}

Nanoseconds FailureDetector::probe_interval(const WatchedPeer& p) const {
  return p.refused_until != kNever ? settings_.refused_interval : settings_.waiting_interval;
}

// An answer needs a round trip: two, to be on the safe side, before silence to a probe means anything.
Nanoseconds FailureDetector::patience(const WatchedPeer& p) const {
  return std::max(probe_interval(p), 2 * p.round_trip);
}

Nanoseconds FailureDetector::refusal_time(const WatchedPeer& p) const {
  return (settings_.refused_probes - 1) * settings_.refused_interval +
         std::max(settings_.refused_interval, 2 * p.round_trip);
}

Nanoseconds FailureDetector::dispute_time(const WatchedPeer& p) const {
  return settings_.suspicion / 4 + 4 * p.round_trip;
}

Nanoseconds FailureDetector::answer_time(const WatchedPeer& p) const {
  return 2 * settings_.waiting_interval + 4 * p.round_trip;
}

Nanoseconds FailureDetector::suspect_at(const WatchedPeer& p) const {
  return p.first_probe + settings_.suspicion / 2 + 4 * p.round_trip;
}

Nanoseconds FailureDetector::lost_at(const WatchedPeer& p) const {
  return p.first_probe + settings_.suspicion + 4 * p.round_trip;
}

Nanoseconds FailureDetector::verdict_at(const WatchedPeer& p) const {
  if (p.sound_probe == kNever) return kNever;
  const Nanoseconds silence = p.belief == Belief::kAlive ? suspect_at(p) : lost_at(p);
  return std::max(p.sound_probe + patience(p), std::min({silence, p.refused_until, p.disputed_until}));
}

bool FailureDetector::heard_lately(NodeId peer, Nanoseconds now) const {
  return now - peers_[peer].last_heard < settings_.suspicion / 4;
}

// A probe leaves; if it is not the first unanswered one, the measurement goes on.
void FailureDetector::probe(NodeId peer, Nanoseconds now) {
  WatchedPeer& p = peers_[peer];
  ++counters_.probes;
  probes_.push(peer);
  questioned_.push(peer);
  p.calm = false;
  p.first_probe = std::min(p.first_probe, now);
  if (!late(now)) p.sound_probe = std::min(p.sound_probe, now);
  p.next_probe = now + probe_interval(p);
  wake_at(p.next_probe);
}

void FailureDetector::question(NodeId peer, Nanoseconds now) {
  const WatchedPeer& p = peers_[peer];
  if (present(p) && p.first_probe == kNever) probe(peer, now);
}

void FailureDetector::judge(NodeId peer, Nanoseconds now) {
  const WatchedPeer& p = peers_[peer];
  if (now < verdict_at(p)) return;
  if (now >= p.refused_until) return accuse(peer, Belief::kLost, BeliefReason::kRefused, now);
  if (now >= p.disputed_until) return set_belief(peer, Belief::kLost, BeliefReason::kTold, p.told_by, now);
  if (now >= lost_at(p)) return accuse(peer, Belief::kLost, BeliefReason::kSilent, now);
  accuse(peer, Belief::kSuspect, BeliefReason::kSilent, now);
}

void FailureDetector::accuse(NodeId peer, Belief belief, BeliefReason reason, Nanoseconds now) {
  set_belief(peer, belief, reason, kNoNode, now);
  News news = desk_.latest(peer);
  news.belief = belief;
  if (!desk_.learn(news, kNoNode)) desk_.tell_fingers(peer);  // it came back meanwhile without refuting
  if (belief == Belief::kSuspect) desk_.tell_subject(peer);   // perhaps only its answers are lost
}

void FailureDetector::set_belief(NodeId peer, Belief belief, BeliefReason reason, NodeId told_by, Nanoseconds now) {
  WatchedPeer& p = peers_[peer];
  if (p.belief == belief) return;
  const bool was_successor = belief == Belief::kLost && desk_.successor() == peer;
  if (p.belief == Belief::kLost) look_for_lost_ones_at(now + settings_.waiting_interval);  // others may be back as well
  if (p.belief == Belief::kSuspect && belief == Belief::kAlive) ++counters_.false_suspicions;
  if (belief == Belief::kSuspect) ++counters_.suspicions;
  if (p.belief == Belief::kLost) --lost_now_;
  if (belief == Belief::kLost) ++lost_now_;
  p.belief = belief;
  p.reason = reason;
  p.told_by = told_by;
  p.calm = p.challenged = false;
  changes_.push(peer);
  desk_.set_present(peer, present(p));
  if (belief == Belief::kLost) {
    ++counters_.lost;
    forget_probes(p);
    look_for_lost_ones_at(now + settings_.idle_interval);
    if (was_successor) neighbour_at_ = now;  // the next one may have been silent for as long
    wake_at(neighbour_at_);
  }
  if (present(p) && p.waiting > 0) watch(peer, now);
}

// ---- outputs

bool FailureDetector::poll_probe(NodeId& to) {
  if (probes_.size() == 0) return false;
  to = probes_.pop();
  return true;
}

bool FailureDetector::poll_change(BeliefChange& change) {
  for (; changes_.size() > 0; changes_.pop()) {
    const NodeId peer = changes_.front();
    WatchedPeer& p = peers_[peer];
    if (p.restarted) {
      p.restarted = false;
      p.reported = Belief::kLost;
      change = {peer, Belief::kLost, BeliefReason::kRestarted, kNoNode};
      return true;
    }
    if (p.belief == p.reported) continue;
    p.reported = p.belief;
    change = {peer, p.belief, p.reason, p.reason == BeliefReason::kTold ? p.told_by : kNoNode};
    return true;
  }
  return false;
}

}  // namespace fibocast

// What the failure detector does when time passes, and what it makes of an own delay.
#include <algorithm>

#include "runtime/node/failure_detector.h"

namespace fibocast {

namespace {

// The neighbour answered a round trip after the last round: that is no reason to wake twice in the next.
constexpr Nanoseconds kSlack = 5'000'000;

// `latest`: for one that began only after the delay.
void move_on(Nanoseconds& time, Nanoseconds by, Nanoseconds latest) {
  if (time != kNever) time = std::min(time + by, latest);
}

}  // namespace

void FailureDetector::on_timer(Nanoseconds now) {
  if (now < deadline_) return;
  late_timer_ = now > deadline_ + kLate;
  if (late_timer_) excuse_everybody(now - deadline_, now);
  deadline_ = kNever;
  look_at_those_in_question(now);
  look_at_neighbour(now, kSlack);
  look_beyond(now);
  look_at_anyone(now);
  look_for_a_lost_one(now);
  late_timer_ = false;
  wake_at(next_round());
}

Nanoseconds FailureDetector::next_round() const {
  return std::min({neighbour_at_, beyond_at_, anyone_at_, lost_one_at_});
}

// We were not scheduled for so long: nobody's silence counts meanwhile. What was measured in part keeps that part.
void FailureDetector::excuse_everybody(Nanoseconds lateness, Nanoseconds now) {
  ++counters_.late;
  for (std::uint32_t left = questioned_.size(); left > 0; --left) {
    const NodeId peer = questioned_.pop();
    questioned_.push(peer);
    WatchedPeer& p = peers_[peer];
    move_on(p.first_probe, lateness, now);
    move_on(p.refused_until, lateness, now + refusal_time(p));
    move_on(p.disputed_until, lateness, now + dispute_time(p));
    p.sound_probe = kNever;
  }
}

void FailureDetector::look_at_those_in_question(Nanoseconds now) {
  for (std::uint32_t left = questioned_.size(); left > 0; --left) {
    const NodeId peer = questioned_.pop();
    WatchedPeer& p = peers_[peer];
    if (in_question(p)) judge(peer, now);
    if (!in_question(p)) continue;
    if (p.first_probe == kNever) p.next_probe = std::max(p.next_probe, p.last_heard + settings_.waiting_interval);
    if (now >= p.next_probe) probe(peer, now);
    questioned_.push(peer);
    wake_at(std::min(p.next_probe, verdict_at(p)));
  }
}

// `early`: it need not be due before that time from now.
void FailureDetector::look_at_neighbour(Nanoseconds now, Nanoseconds early) {
  if (now + early < neighbour_at_) return;
  neighbour_at_ = now + settings_.idle_interval;
  const NodeId peer = desk_.successor();
  if (peer == kNoNode) return;
  const Nanoseconds quiet_at = peers_[peer].last_heard + settings_.idle_interval;
  if (now + early < quiet_at)
    neighbour_at_ = quiet_at;  // its traffic is as good as an answer
  else
    ask_neighbour(peer, now);
}

void FailureDetector::ask_neighbour(NodeId peer, Nanoseconds now) {
  question(peer, now);
  if (beyond_at_ != kNever) return;
  beyond_ = peer;
  beyond_at_ = now + settings_.suspicion / 8;
}

// Goes on while one after the other is silent.
void FailureDetector::look_beyond(Nanoseconds now) {
  if (now < beyond_at_) return;
  beyond_at_ = kNever;
  if (present(peers_[beyond_]) && peers_[beyond_].first_probe == kNever) return;
  const NodeId next = desk_.present_after(beyond_);
  if (next != kNoNode && now - peers_[next].last_heard >= settings_.idle_interval) ask_neighbour(next, now);
}

// A node whose neighbour restarted and never met it is watched by nobody else.
void FailureDetector::look_at_anyone(Nanoseconds now) {
  if (now < anyone_at_) return;
  anyone_at_ = now + kRoundsPerStranger * settings_.idle_interval;
  for (std::uint32_t left = settings_.nodes; left > 0; --left) {
    const NodeId peer = next_anyone_;
    next_anyone_ = (next_anyone_ + 1) % settings_.nodes;
    const WatchedPeer& p = peers_[peer];
    if (!present(p) || p.first_probe != kNever || now - p.last_heard < settings_.idle_interval) continue;
    return probe(peer, now);
  }
}

void FailureDetector::look_for_lost_ones_at(Nanoseconds when) {
  lost_one_at_ = std::min(lost_one_at_, when);
  wake_at(lost_one_at_);
}

// We believe it, or have only been told and never met it.
bool FailureDetector::is_lost_to_somebody(NodeId peer) const {
  const Belief b = peers_[peer].belief;
  return b == Belief::kLost || (b == Belief::kUnknown && desk_.latest(peer).belief == Belief::kLost);
}

// Nothing is measured: it is lost already, and can only be heard again. Our successor is told of it once more: between
// who knows and who does not there always is a pair of neighbours, so nobody remains without the news.
void FailureDetector::look_for_a_lost_one(Nanoseconds now) {
  if (now < lost_one_at_) return;
  lost_one_at_ = kNever;
  for (std::uint32_t left = settings_.nodes; left > 0; --left) {
    const NodeId peer = next_lost_;
    next_lost_ = (next_lost_ + 1) % settings_.nodes;
    if (peer == settings_.self || !is_lost_to_somebody(peer)) continue;
    lost_one_at_ = now + settings_.idle_interval;
    desk_.tell_successor(peer);
    if (peers_[peer].belief != Belief::kLost) return;
    ++counters_.probes;
    return probes_.push(peer);
  }
}

}  // namespace fibocast

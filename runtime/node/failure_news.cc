// What the failure detector makes of news: about itself, about others, about incarnations that it does not know.
#include <limits>

#include "runtime/node/failure_detector.h"

namespace fibocast {

void FailureDetector::on_news(NodeId from, const News& news, Nanoseconds now) {
  if (news.subject >= settings_.nodes || news.incarnation == 0 || news.belief == Belief::kUnknown ||
      news.belief > Belief::kLost)
    return;
  if (news.subject == settings_.self) return on_news_of_self(from, news);
  if (desk_.latest(news.subject).incarnation == 0) desk_.start_over(news.subject, news.incarnation);
  const News known = desk_.latest(news.subject);
  if (known.incarnation != news.incarnation) return on_other_incarnation(news, now);
  if (from == news.subject && news.belief == Belief::kLost) return on_farewell(news, now);
  if (desk_.learn(news, from))
    believe(from, news, now);
  else if (supersedes(known, news))
    desk_.answer(from, news.subject);  // it has missed something
}

News FailureDetector::farewell() const {
  const News own = desk_.latest(settings_.self);
  return {own.subject, own.incarnation, own.life, Belief::kLost};
}

void FailureDetector::on_farewell(const News& news, Nanoseconds now) {
  desk_.learn(news, news.subject);
  peers_[news.subject].left = true;
  set_belief(news.subject, Belief::kLost, BeliefReason::kLeft, kNoNode, now);
}

// Who says that we are not alive is told that we are, in a new life if this one was accused; and so are all others.
void FailureDetector::on_news_of_self(NodeId from, const News& news) {
  if (leaving_) return;
  const News own = desk_.latest(settings_.self);
  if (news.incarnation != own.incarnation || news.belief == Belief::kAlive) return;
  if (news.life == std::numeric_limits<std::uint32_t>::max()) return;  // no life is left: not told by an honest node
  if (news.life >= own.life) {
    desk_.learn({own.subject, own.incarnation, news.life + 1, Belief::kAlive}, kNoNode);
    ++counters_.refutations;
  }
  desk_.answer(from, settings_.self);
}

// One of the two is over, and only a handshake tells which: a probe brings it about.
void FailureDetector::on_other_incarnation(const News& news, Nanoseconds now) {
  question(news.subject, now);
  if (peers_[news.subject].belief == Belief::kLost) probes_.push(news.subject);
}

void FailureDetector::believe(NodeId from, const News& news, Nanoseconds now) {
  WatchedPeer& p = peers_[news.subject];
  if (news.belief == Belief::kLost) look_for_lost_ones_at(now + settings_.idle_interval);
  if (p.belief == Belief::kUnknown) return;  // nobody to lose
  p.challenged = false;
  if (news.belief == Belief::kAlive) {  // it has refuted: our own measurement begins anew
    if (p.first_probe != kNever) p.first_probe = now;
    p.disputed_until = kNever;
    return set_belief(news.subject, Belief::kAlive, BeliefReason::kTold, from, now);
  }
  const bool doubted = heard_lately(news.subject, now) || late(now);
  const bool agreed = p.refused_until != kNever || (!doubted && p.first_probe != kNever);
  if (news.belief == Belief::kLost && !agreed && present(p))
    return dispute(news.subject, from, now + (doubted ? dispute_time(p) : answer_time(p)), now);
  if (agreed || !doubted) set_belief(news.subject, news.belief, BeliefReason::kTold, from, now);
}

// We have heard it ourselves, or not even asked it: it may defend itself.
void FailureDetector::dispute(NodeId peer, NodeId told_by, Nanoseconds until, Nanoseconds now) {
  WatchedPeer& p = peers_[peer];
  p.told_by = told_by;
  p.challenged = true;
  p.disputed_until = until;
  desk_.tell_subject(peer);
  question(peer, now);
}

}  // namespace fibocast

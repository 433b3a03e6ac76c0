#include "tests/runtime/node/detector_cluster.h"

#include <algorithm>
#include <span>

namespace fibocast {

DetectorCluster::DetectorCluster(std::uint32_t nodes, const BadNetwork& network, std::uint64_t seed, bool strangers)
    : network_(network), random_(seed), nodes_(nodes) {
  if (strangers) return;
  for (NodeId n = 0; n < nodes; ++n) {
    now_ += static_cast<Nanoseconds>(random(1000 * kMilli)) / nodes;  // their idle intervals are not in step
    begin(n);
  }
  for (NodeId n = 0; n < nodes; ++n) {
    for (NodeId m = 0; m < nodes; ++m)
      if (m != n) at(n).came(m, nodes_[n].known[m] = nodes_[m].incarnation, now_);
    drain(n);
  }
}

void DetectorCluster::begin(NodeId n) {
  ClusterNode& node = nodes_[n];
  node.state = Process::kRunning;
  node.incarnation = ++order_;  // growing, so that the test can fence former ones off as channels do
  node.known.assign(size(), 0);
  node.round_trips.assign(size(), 0);
  node.inbox.clear();
  const std::size_t bytes = FailureDetector::bytes_needed(Limits{});
  node.memory = std::make_unique<std::max_align_t[]>(bytes / sizeof(std::max_align_t) + 1);
  const DetectorSettings settings{.self = n, .nodes = size(), .incarnation = node.incarnation};
  node.detector = std::make_unique<FailureDetector>(Limits{}, settings,
                                                    std::span(reinterpret_cast<std::byte*>(node.memory.get()), bytes));
  node.timer_at = kNever;
  at(n).start(now_);
  drain(n);
}

void DetectorCluster::start(NodeId n) {
  begin(n);
  for (NodeId m = 0; m < size(); ++m)
    if (m != n) send(Kind::kHello, n, m);
}

void DetectorCluster::crash(NodeId n, bool refusing) {
  nodes_[n].state = refusing ? Process::kRefusing : Process::kSilent;
  nodes_[n].excused = true;
}

void DetectorCluster::pause(NodeId n) {
  nodes_[n].state = Process::kPaused;
  nodes_[n].excused = true;
}

void DetectorCluster::resume(NodeId n) {
  ClusterNode& node = nodes_[n];
  node.state = Process::kRunning;
  node.timer_at = kNever;
  for (; !node.inbox.empty(); node.inbox.pop_front()) receive(node.inbox.front());
  node.detector->on_timer(now_);
  drain(n);
}

void DetectorCluster::wait_on(NodeId observer, NodeId peer) {
  at(observer).wait_on(peer, now_);
  drain(observer);
}

void DetectorCluster::no_longer_wait_on(NodeId observer, NodeId peer) {
  at(observer).no_longer_wait_on(peer);
  drain(observer);
}

// ---- the network

void DetectorCluster::push(Happening h) {
  h.order = ++order_;
  happenings_.push(h);
}

void DetectorCluster::send(Kind kind, NodeId from, NodeId to, Nanoseconds asked_at, const News& news) {
  ++frames_;
  news_ += kind == Kind::kNews;
  put_on_the_wire({.kind = kind,
                   .from = from,
                   .to = to,
                   .from_incarnation = nodes_[from].incarnation,
                   .to_incarnation = nodes_[from].known[to],
                   .asked_at = asked_at,
                   .news = news});
}

// Lost frames are gone; of what is reliable the next sending counts. It keeps on as long as its sender lives.
void DetectorCluster::put_on_the_wire(Happening frame) {
  const bool reliable = frame.kind != Kind::kProbe && frame.kind != Kind::kAnswer && frame.kind != Kind::kRefusal;
  const bool lost = (swallowed_ && swallowed_(frame.from, frame.to)) || random(100) < network_.loss_percent;
  const auto spread = static_cast<std::uint64_t>(network_.most_delay - network_.least_delay);
  frame.at = now_ + network_.least_delay + static_cast<Nanoseconds>(random(spread + 1));
  if (!lost) return push(frame);
  if (!reliable) return;
  frame.at = now_ + (network_.resend << std::min(frame.tries++, 4u));
  frame.again = true;
  push(frame);
}

void DetectorCluster::handle(const Happening& h) {
  if (h.kind == Kind::kTimer) {
    ClusterNode& node = nodes_[h.to];
    if (node.state != Process::kRunning || node.timer_at != h.at) return;
    node.timer_at = kNever;
    node.detector->on_timer(now_);
    return drain(h.to);
  }
  if (!h.again) return arrive(h);
  const ClusterNode& sender = nodes_[h.from];
  const bool alive = sender.state == Process::kRunning || sender.state == Process::kPaused;
  Happening once_more = h;
  once_more.again = false;
  if (alive && sender.incarnation == h.from_incarnation) put_on_the_wire(once_more);
}

void DetectorCluster::arrive(const Happening& frame) {
  ClusterNode& node = nodes_[frame.to];
  if (node.state == Process::kPaused) node.inbox.push_back(frame);
  if (node.state == Process::kRunning) receive(frame);
  if (node.state == Process::kRefusing && frame.kind != Kind::kRefusal) send(Kind::kRefusal, frame.to, frame.from);
}

void DetectorCluster::receive(const Happening& frame) {
  const NodeId self = frame.to;
  ClusterNode& node = nodes_[self];
  if (frame.kind == Kind::kRefusal) {
    first_refusal_ = std::min(first_refusal_, now_);
    node.detector->refused(frame.from, now_);
    return drain(self);
  }
  std::uint64_t& known = node.known[frame.from];
  if (frame.from_incarnation < known) return;  // of a former incarnation
  if (frame.from_incarnation > known)
    node.detector->came(frame.from, known = frame.from_incarnation, now_);
  else
    node.detector->heard(frame.from, now_);
  if (frame.kind == Kind::kHello) send(Kind::kHelloBack, self, frame.from);
  if (frame.kind == Kind::kProbe) send(Kind::kAnswer, self, frame.from, frame.asked_at);
  if (frame.kind == Kind::kAnswer) measure(self, frame.from, now_ - frame.asked_at);
  if (frame.kind == Kind::kNews && frame.to_incarnation == node.incarnation)
    node.detector->on_news(frame.from, frame.news, now_);
  drain(self);
}

void DetectorCluster::measure(NodeId at_node, NodeId peer, Nanoseconds round_trip) {
  Nanoseconds& smooth = nodes_[at_node].round_trips[peer];
  smooth = smooth == 0 ? round_trip : (7 * smooth + round_trip) / 8;
  at(at_node).set_round_trip(peer, smooth);
}

void DetectorCluster::drain(NodeId n) {
  ClusterNode& node = nodes_[n];
  NodeId to;
  News news;
  BeliefChange change;
  while (node.detector->poll_probe(to)) send(Kind::kProbe, n, to, now_);
  while (node.detector->poll_news(to, news)) send(Kind::kNews, n, to, 0, news);
  while (node.detector->poll_change(change)) {
    const ClusterNode& subject = nodes_[change.peer];
    if (change.belief == Belief::kLost && subject.state == Process::kRunning && !subject.excused) ++false_losses_;
  }
  const Nanoseconds deadline = node.detector->next_deadline();
  if (deadline >= node.timer_at) return;
  node.timer_at = std::max(deadline, now_) + static_cast<Nanoseconds>(random(kMilli));  // the scheduler's delay
  push({.at = node.timer_at, .to = n});
}

// ---- the test's view

void DetectorCluster::run(Nanoseconds duration) {
  run_until([] { return false; }, duration);
}

bool DetectorCluster::run_until(const std::function<bool()>& done, Nanoseconds duration) {
  const Nanoseconds end = now_ + duration;
  Nanoseconds next_look = now_;
  while (!happenings_.empty() && happenings_.top().at <= end) {
    if (happenings_.top().at >= next_look) {
      now_ = next_look;  // nothing has happened since
      if (done()) return true;
      next_look = happenings_.top().at + kMilli;
    }
    const Happening h = happenings_.top();
    happenings_.pop();
    now_ = h.at;
    handle(h);
  }
  if (next_look < end) {
    now_ = next_look;
    if (done()) return true;
  }
  now_ = end;
  return done();
}

bool DetectorCluster::all_running_believe(NodeId subject, Belief belief) const {
  for (NodeId n = 0; n < size(); ++n)
    if (n != subject && up(n) && nodes_[n].detector->belief(subject) != belief) return false;
  return true;
}

bool DetectorCluster::nobody_running_counts_on(NodeId subject) const {
  for (NodeId n = 0; n < size(); ++n) {
    if (n == subject || !up(n)) continue;
    const Belief b = nodes_[n].detector->belief(subject);
    if (b == Belief::kAlive || b == Belief::kSuspect) return false;
  }
  return true;
}

bool DetectorCluster::everybody_running_is_alive_to_all() const {
  for (NodeId n = 0; n < size(); ++n)
    if (up(n) && !all_running_believe(n, Belief::kAlive)) return false;
  return true;
}

std::uint64_t DetectorCluster::suspicions() const {
  std::uint64_t sum = 0;
  for (const ClusterNode& n : nodes_) sum += n.detector->counters().suspicions;
  return sum;
}

}  // namespace fibocast

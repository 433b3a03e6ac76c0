#include "runtime/daemon/node_host.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "runtime/daemon/cores.h"
#include "transport/frame.h"

namespace fibocast {
namespace {

constexpr int kMostGathered = 64;  // frames that are taken before those that they lead to are sent
constexpr std::size_t kPage = 4096;
constexpr std::size_t kSmallFrame = 1024;       // bytes; what a larger one leads to is sent at once
constexpr unsigned kPollsOfAll = 64;            // polls of the transport for one of the io_context
constexpr unsigned kPollsOfAllWithClients = 2;  // ... where calls come through it

void copy(std::span<const std::byte> from, std::byte* to) {
  if (!from.empty() && from.data() != to) std::memcpy(to, from.data(), from.size());  // it may be there: place_of()
}

std::span<std::byte> map_pages(std::size_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "memory of the node");
  return {static_cast<std::byte*>(at), bytes};
}

// In one call: a fault for each page that is first written takes ten times as long, in a virtual machine 12 us. A
// system that cannot (before Linux 5.14), or has no memory, gives each page when it is written.
void take_pages(std::span<std::byte> bytes) {
  const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(bytes.data()) % kPage;
  madvise(bytes.data() - at, bytes.size() + at, MADV_POPULATE_WRITE);
}

}  // namespace

MemoryArena::MemoryArena(std::size_t bytes, std::size_t at_once) : bytes_(map_pages(bytes)) {
  take_pages(bytes_.first(at_once));
}
MemoryArena::~MemoryArena() { munmap(bytes_.data(), bytes_.size()); }

NodeHost::NodeHost(boost::asio::io_context& context, Transport& transport, const Limits& limits,
                   const NodeSettings& settings, WaitPolicy wait, Handlers handlers)
    : context_(context),
      transport_(transport),
      arena_(Node::bytes_needed(limits), Node::bytes_written_at_once(limits)),
      node_(limits, settings, arena_.bytes()),
      memory_(Node::buffer_ids(limits), transport),
      self_(settings.self),
      wait_(wait),
      stays_(context.get_executor()),
      waiting_(self_, 1, cores::count(), AdaptiveWait::Clients::kNone),
      handlers_(std::move(handlers)),
      alarm_(context, [this] { armed_for_ = kNever; }),
      now_(monotonic_now()),
      emulates_(settings.nic.enabled),
      scratch_(kMaxHeadBytes) {
  undelivered_.reserve(64);
  delivering_.reserve(64);
}

void NodeHost::take_memory_of_work() {
  for (const std::span<std::byte> part : node_.memory_of_work()) take_pages(part);
}

void NodeHost::start() {
  using Bytes = std::span<const std::byte>;
  transport_.start(
      {.on_frame = [this](Bytes frame) { return after_frame(node_.on_datagram(frame, time_of_frame()), frame.size()); },
       .place_of = [this](Bytes head, std::size_t bytes) { return place_of(head, bytes); },
       .on_parts =
           [this](Bytes head, Bytes payload) {
             return after_frame(node_.on_datagram(head, payload, time_of_frame()), payload.size());
           },
       .on_writable =
           [this](NodeId peer) {
             read_clock();
             node_.set_writable(peer, true);
             pump();
           },
       .on_reset =
           [this](NodeId peer) {
             node_.on_path_reset(peer, read_clock());
             pump();
           },
       .on_refused =
           [this](NodeId peer) {
             node_.on_path_refused(peer, read_clock());
             pump();
           }});
  polls_transport_ = transport_.can_poll();
  node_.start(read_clock());
  pump();
}

std::byte* NodeHost::place_of(std::span<const std::byte> head, std::size_t payload_bytes) {
  return bytes_of(node_.place_of(head, payload_bytes)).data();
}

// Who has just waited knows it, nearly: what came while he looked has come later.
Nanoseconds NodeHost::time_of_frame() { return std::exchange(clock_is_read_, false) ? now_ : read_clock(); }

bool NodeHost::after_frame(bool taken, std::size_t bytes) {
  if (!taken) return false;
  if (bytes > kSmallFrame) waiting_.unsettle(now_);
  if (gathering_ && bytes <= kSmallFrame) {
    drain_events();  // they speak of the frame's bytes
    gathered_ = true;
  } else {
    pump();
  }
  return true;
}

// What is there, one frame after the other. The node sends what comes of small ones when all are in: to look through
// its peers after each of their messages would cost the root of a star more than the messages.
bool NodeHost::poll_transport() {
  gathering_ = true;
  int frames = 0;
  while (frames < kMostGathered && transport_.poll()) {
    ++frames;
    if (!node_.operation_in_flight()) break;
  }
  gathering_ = false;
  if (std::exchange(gathered_, false)) pump();
  return frames > 0;
}

std::span<std::byte> NodeHost::bytes_of(const PayloadRange& range) {
  if (range.buffer == kNoBuffer || range.length == 0) return {};
  return memory_.part(range.buffer, node_.buffer_bytes(range.buffer), range.offset, range.length);
}

void NodeHost::fill(BufferId buffer, std::span<const std::byte> source) {
  memory_.copy_later(buffer, source);
  if (!waiting_.has_core()) memory_.at(buffer, source.size());
}

// Frames leave before applications hear anything: a node forwards to its children before it releases its own.
void NodeHost::pump() {
  if (pumping_) return;
  pumping_ = true;
  do {
    for (bool moved = true; moved;) {
      drain_events();
      drain_frames();
      moved = drain_events() || node_.has_work();
    }
  } while (deliver() || (handlers_.on_drained && handlers_.on_drained()));
  pumping_ = false;
  deadline_ = node_.next_deadline();
}

bool NodeHost::drain_events() {
  bool any = false;
  for (; node_.may_have_event() && node_.poll_event(event_); any = true) take_event(event_);
  return any;
}

void NodeHost::take_event(const Event& event) {
  switch (event.kind) {
    case Event::Kind::kCopy: copy(event.bytes, bytes_of(event.range).data()); break;
    case Event::Kind::kWork: return do_work(event.work);
    case Event::Kind::kPlace: return find_place(event);
    case Event::Kind::kBufferFree: memory_.release(event.range.buffer); break;
    default: undelivered_.push_back(event);
  }
}

void NodeHost::find_place(const Event& event) {
  if (!handlers_.place_of) return;
  const auto place = handlers_.place_of(event.cookie, event.range.buffer, event.range.length);
  if (!place.empty()) memory_.lend(event.range.buffer, place);
}

void NodeHost::do_work(const LocalWork& work) {
  const auto begin_of = [this](BufferId buffer) { return memory_.at(buffer, node_.buffer_bytes(buffer)).data(); };
  std::byte* out = begin_of(work.out.buffer);
  do_local_work(work, begin_of(work.right.buffer), out);
}

void NodeHost::drain_frames() {
  Transmit frame;
  bool any = false;
  for (; node_.poll_transmit(now_, scratch_, frame); any = true) {
    if (frame.payload.length > kSmallFrame) waiting_.unsettle(now_);
    const auto payload = bytes_of(frame.payload);
    const bool taken = frame.may_wait ? transport_.gather(frame.to, frame.head, payload)
                                      : transport_.send(frame.to, frame.head, payload);
    has_sent_ = true;
    if (!taken) node_.set_writable(frame.to, false);
  }
  if (any) transport_.flush();
}

void NodeHost::set_path(NodeId peer) {
  const std::size_t held = transport_.held_bytes(peer);
  PeerPath path;
  path.fragment_bytes = static_cast<std::uint32_t>(transport_.max_frame(peer) - kMaxHeadBytes);
  path.by_reference = held > 0;
  path.bulk_window_bytes = held > 0 ? held : bulk_window(transport_.receive_buffer_bytes(peer));
  node_.set_path(peer, path);
}

bool NodeHost::deliver() {
  if (undelivered_.empty()) return false;
  std::swap(undelivered_, delivering_);
  for (const Event& event : delivering_) {
    if (event.kind == Event::Kind::kPeerUp) {
      waiting_.unsettle(now_);
      set_path(event.peer);
    }
    if (event.kind == Event::Kind::kCallDone) {
      waiting_.ended(now_);
      if (handlers_.on_call_done) handlers_.on_call_done(event);
    } else if (handlers_.on_event) {
      handlers_.on_event(event);
    }
  }
  delivering_.clear();
  return true;
}

void NodeHost::run_due_timers(Nanoseconds now) {
  if (now < deadline_) return;
  node_.on_timer(read_clock());
  pump();
}

// Only who is about to block needs it. While an operation is in flight it is touched only when the deadline moved
// forward: one that rings too early wakes us to look again, which costs an idle host more than setting it.
void NodeHost::set_alarm() {
  if (deadline_ == armed_for_) return;
  if (deadline_ > armed_for_ && node_.operation_in_flight()) return;
  armed_for_ = deadline_;
  alarm_.set(deadline_);
}

void NodeHost::set_nodes_of_this_host(Rank nodes, AdaptiveWait::Clients clients) {
  polls_of_all_ = clients == AdaptiveWait::Clients::kNone ? kPollsOfAll : kPollsOfAllWithClients;
  waiting_ = AdaptiveWait(self_, nodes, cores::count(), clients);
  nodes_of_a_core_ = nodes / cores::count();
}

// An operation is in flight, or was until now: then the next call may come at once.
bool NodeHost::is_busy() {
  in_flight_ = node_.operation_in_flight();
  lingers_ = lingers_ || in_flight_;
  return lingers_;
}

bool NodeHost::may_poll(Nanoseconds now) {
  if (wait_ != WaitPolicy::kAdaptive) return wait_ == WaitPolicy::kPoll;
  return is_busy() && waiting_.may_poll(now);
}

// What comes next is a frame while an operation is in flight, and a call else: what has come for the next operation
// stays where it is until that is called, and its place known.
bool NodeHost::poll_once() {
  bool any = false;
  has_polled_ = true;
  if (polls_transport_ && in_flight_) {
    any = poll_transport();
    if (++polls_ < polls_of_all_ || !node_.operation_in_flight()) return any;
  }
  polls_ = 0;
  any = transport_.poll_memory() || any;
  any = context_.poll() > 0 || any;
  stopped_ = context_.stopped();
  return any;
}

// A poll found nothing. False: it is time to block.
bool NodeHost::wait_a_little(Nanoseconds& now) {
  const AdaptiveWait::Next next = wait_ == WaitPolicy::kPoll ? AdaptiveWait::Next::kSpin : waiting_.next(now);
  if (next == AdaptiveWait::Next::kBlock) return false;
  if (next == AdaptiveWait::Next::kMove) cores::move_to_another();
  if (next == AdaptiveWait::Next::kYield) sched_yield();
  const Nanoseconds before = std::exchange(now, read_clock());
  clock_is_read_ = !emulates_;
  if (next == AdaptiveWait::Next::kYield) waiting_.yielded(before, now);
  return true;
}

void NodeHost::take_place(Nanoseconds& now) {
  if (wait_ != WaitPolicy::kAdaptive) return;
  const auto core = waiting_.place(now, transport_.polls_memory());
  if (core && cores::move_to(*core)) now = read_clock();
}

// False: it is time to block.
bool NodeHost::poll_for_a_while(Nanoseconds now, const std::function<bool()>& go_on) {
  take_place(now);
  waiting_.begin(now);
  const bool has_sent = std::exchange(has_sent_, false) && !transport_.polls_memory();
  for (bool any = waiting_.looks_first(has_sent); any || wait_a_little(now);) {
    any = poll_once();
    clock_is_read_ = false;
    if (any) waiting_.found();
    if (stopped_ || (any && !go_on())) return true;
    if (any) waiting_.begin(now = std::max(now, now_));  // an event has read the clock
    run_due_timers(now);
    if (!go_on()) return true;
    if (!any && !is_busy() && wait_ == WaitPolicy::kAdaptive) return false;
  }
  lingers_ = false;
  return false;
}

// Blocks.
void NodeHost::run_one() {
  context_.run_one();
  stopped_ = context_.stopped();
}

void NodeHost::run_while(const std::function<bool()>& go_on) {
  while (!stopped_ && go_on()) {
    const Nanoseconds now = monotonic_now();
    if (may_poll(now) && poll_for_a_while(now, go_on)) return;
    if (stopped_) return;
    set_alarm();
    if (transport_.rest())
      run_one();
    else
      poll_once();
    run_due_timers(monotonic_now());
  }
}

void NodeHost::catch_up() {
  if (std::exchange(has_polled_, false)) return;
  context_.poll();
  while (transport_.poll_memory()) continue;
  run_due_timers(monotonic_now());
}

void NodeHost::run() {
  prctl(PR_SET_TIMERSLACK, 1UL);
  run_while([] { return true; });
}

void NodeHost::stop() {
  boost::asio::post(context_, [this] {
    transport_.stop();
    alarm_.stop();
    context_.stop();
  });
}

}  // namespace fibocast

#include "runtime/client/turns.h"

#include <boost/asio/post.hpp>

namespace fibocast {
namespace {

// After a call the next one probably comes soon: so long nobody drives, and what comes from the network waits. It is
// well below what a peer waits before it sends again, or doubts us.
constexpr std::chrono::milliseconds kBetweenCalls{8};
constexpr Nanoseconds kCatchUpEvery = 1'000'000;

}  // namespace

void Turns::give_to(Who who) {
  who_ = who;
  driver_ = who == Who::kNobody ? std::thread::id() : std::this_thread::get_id();
}

bool Turns::thread_may_drive() const { return who_ == Who::kNobody && !caller_waits_; }

// Calls follow each other without a word to this thread: it looks from time to time whether they still come. During a
// long one it sleeps, and is told of the end.
void Turns::wait_for_turn(std::unique_lock<std::mutex>& lock) {
  for (std::uint64_t seen = calls_; !thread_may_drive() || seen != calls_;) {
    if (needs_ > 0 && thread_may_drive()) return;
    if (who_ == Who::kCaller && seen == calls_) {
      sleeps_ = true;
      changed_.wait(lock);
      sleeps_ = false;
      seen = 0;  // the next call may come soon here too
    } else {
      seen = calls_;
      changed_.wait_for(lock, kBetweenCalls);
    }
  }
}

void Turns::run() {
  std::unique_lock lock(mutex_);
  for (wait_for_turn(lock); !context_.stopped(); wait_for_turn(lock)) {
    give_to(Who::kThread);
    lock.unlock();
    host_.run_while([this] { return !interrupted_; });
    lock.lock();
    give_to(Who::kNobody);
    changed_.notify_all();
  }
}

bool Turns::begin() {
  std::unique_lock lock(mutex_);
  if (who_ == Who::kCaller || caller_waits_ || needs_ > 0) return false;
  if (who_ == Who::kThread) {
    caller_waits_ = interrupted_ = true;
    boost::asio::post(context_, [] {});
    changed_.wait(lock, [this] { return who_ == Who::kNobody; });
    caller_waits_ = interrupted_ = false;
  }
  ++calls_;
  give_to(Who::kCaller);
  return true;
}

void Turns::drive(const std::function<bool()>& done) {
  host_.run_while([&] { return !done() && needs_ == 0; });
}

// Calls that end at once may follow each other for ever.
void Turns::catch_up() {
  const Nanoseconds now = monotonic_now();
  if (now - caught_up_at_ < kCatchUpEvery) return;
  caught_up_at_ = now;
  host_.catch_up();
}

void Turns::end() {
  catch_up();
  const std::lock_guard lock(mutex_);
  give_to(Who::kNobody);
  if (sleeps_ || needs_ > 0) changed_.notify_all();
}

void Turns::need_thread() {
  ++needs_;
  boost::asio::post(context_, [] {});  // a caller that drives looks up
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

}  // namespace fibocast

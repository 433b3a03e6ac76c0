#include "runtime/client/turns.h"

#include <algorithm>
#include <boost/asio/post.hpp>

namespace fibocast {
namespace {

constexpr Nanoseconds kBetweenCalls = 8'000'000;
constexpr Nanoseconds kLongestBetweenCalls = 64'000'000;  // and of the time after which a peer that waits is lost
constexpr Nanoseconds kPartOfSuspicion = 32;              // ... one part of so many
constexpr Rank kFewNodes = 4;                             // of a core: what they cost by looking is not felt
constexpr Nanoseconds kCatchUpEvery = 1'000'000;

}  // namespace

std::chrono::nanoseconds Turns::between_calls(Rank nodes_of_a_core, Nanoseconds suspicion) {
  const Nanoseconds longest = std::clamp(suspicion / kPartOfSuspicion, kBetweenCalls, kLongestBetweenCalls);
  return std::chrono::nanoseconds(std::clamp(kBetweenCalls * nodes_of_a_core / kFewNodes, kBetweenCalls, longest));
}

bool Turns::take_for(Who who) {
  Who nobody = Who::kNobody;
  if (!who_.compare_exchange_strong(nobody, who)) return false;
  driver_ = std::this_thread::get_id();
  return true;
}

void Turns::give_back() {
  driver_ = std::thread::id();
  who_ = Who::kNobody;
}

bool Turns::thread_may_drive() const { return who_ == Who::kNobody && !caller_waits_; }

// end() sees that we sleep, or we see that it was there.
void Turns::sleep(std::unique_lock<std::mutex>& lock) {
  sleeps_ = true;
  if (who_ == Who::kCaller) changed_.wait(lock);
  sleeps_ = false;
}

// Calls follow each other without a word to this thread: it looks from time to time whether they still come. During a
// long one it sleeps, and is told of the end.
void Turns::wait_for_turn(std::unique_lock<std::mutex>& lock) {
  for (std::uint64_t seen = calls_; !thread_may_drive() || seen != calls_;) {
    if (needs_ > 0 && thread_may_drive()) return;
    if (who_ == Who::kCaller && seen == calls_) {
      sleep(lock);
      seen = 0;  // the next call may come soon here too
    } else {
      seen = calls_;
      changed_.wait_for(lock, between_calls_);
    }
  }
}

void Turns::run() {
  std::unique_lock lock(mutex_);
  for (wait_for_turn(lock); !context_.stopped(); wait_for_turn(lock)) {
    if (!take_for(Who::kThread)) continue;
    lock.unlock();
    host_.run_while([this] { return !interrupted_; });
    lock.lock();
    give_back();
    changed_.notify_all();
  }
}

bool Turns::begin() {
  if (caller_waits_ || needs_ > 0) return false;
  if (!take_for(Who::kCaller) && !take_from_thread()) return false;
  calls_.store(calls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return true;
}

bool Turns::take_from_thread() {
  std::unique_lock lock(mutex_);
  if (caller_waits_ || is_mine()) return false;
  if (who_ == Who::kThread) {
    caller_waits_ = interrupted_ = true;
    boost::asio::post(context_, [] {});
    changed_.wait(lock, [this] { return who_ != Who::kThread; });
    caller_waits_ = interrupted_ = false;
  }
  return take_for(Who::kCaller);
}

void Turns::drive(const std::function<bool()>& done) {
  host_.run_while([&] { return !done() && needs_ == 0; });
}

void Turns::catch_up(Nanoseconds now) {
  if (now - caught_up_at_ < kCatchUpEvery) return;
  caught_up_at_ = now;
  host_.catch_up();
}

void Turns::end() {
  give_back();
  if (!sleeps_ && needs_ == 0) return;
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

void Turns::need_thread() {
  ++needs_;
  boost::asio::post(context_, [] {});  // a caller that drives looks up
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

}  // namespace fibocast

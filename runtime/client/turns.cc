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
      changed_.wait_for(lock, between_calls_);
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

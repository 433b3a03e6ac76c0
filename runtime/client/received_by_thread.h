// What the threads of a C program have received last from one participant, which several of them may call. Internal.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace fibocast {

class ReceivedByThread {
 public:
  // Until the same thread's next call. Threads that have ended leave their places to those that get their ids.
  const std::vector<std::byte>& keep(std::vector<std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    return last_[std::this_thread::get_id()] = std::move(bytes);
  }

 private:
  std::mutex mutex_;
  std::map<std::thread::id, std::vector<std::byte>> last_;
};

}  // namespace fibocast

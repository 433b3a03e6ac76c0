// Memory for the pending handlers of an Asio object that is armed again and again (a timer, a session's read): with
// it, waiting costs no heap allocation however handlers interleave.
#pragma once

#include <array>
#include <boost/asio/bind_allocator.hpp>
#include <cstddef>
#include <new>

namespace fibocast {

// Room for a few handlers: a timer that is set anew has a cancelled one that has not run yet. More, or a large one,
// fall back to the heap. Outlives the pending operations.
class HandlerMemory {
 public:
  HandlerMemory() = default;
  HandlerMemory(const HandlerMemory&) = delete;
  HandlerMemory& operator=(const HandlerMemory&) = delete;
  void* allocate(std::size_t bytes) {
    for (Room& room : rooms_) {
      if (room.in_use || bytes > sizeof(room.bytes)) continue;
      room.in_use = true;
      return room.bytes;
    }
    return ::operator new(bytes);
  }
  void deallocate(void* memory) {
    for (Room& room : rooms_)
      if (memory == room.bytes) return void(room.in_use = false);
    ::operator delete(memory);
  }

 private:
  struct Room {
    alignas(std::max_align_t) std::byte bytes[640];
    bool in_use = false;
  };
  std::array<Room, 3> rooms_;
};

template <class T>
class HandlerAllocator {
 public:
  using value_type = T;
  explicit HandlerAllocator(HandlerMemory& memory) : memory_(&memory) {}
  template <class U>
  HandlerAllocator(const HandlerAllocator<U>& other) : memory_(other.memory()) {}  // NOLINT: as allocators do
  T* allocate(std::size_t n) { return static_cast<T*>(memory_->allocate(n * sizeof(T))); }
  void deallocate(T* p, std::size_t) { memory_->deallocate(p); }
  HandlerMemory* memory() const { return memory_; }
  bool operator==(const HandlerAllocator&) const = default;

 private:
  HandlerMemory* memory_;
};

// `handler`, kept in `memory` while it waits.
template <class Handler>
auto kept_in(HandlerMemory& memory, Handler handler) {
  return boost::asio::bind_allocator(HandlerAllocator<std::byte>(memory), std::move(handler));
}

}  // namespace fibocast

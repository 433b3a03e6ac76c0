// Memory for the one pending handler of an Asio object that is armed again and again (a timer, a session's read):
// with it, waiting costs no heap allocation however handlers interleave.
#pragma once

#include <boost/asio/bind_allocator.hpp>
#include <cstddef>
#include <new>

namespace fibocast {

// Room for one handler at a time; a second or a large one falls back to the heap. Outlives the pending operation.
class HandlerMemory {
 public:
  HandlerMemory() = default;
  HandlerMemory(const HandlerMemory&) = delete;
  HandlerMemory& operator=(const HandlerMemory&) = delete;
  void* allocate(std::size_t bytes) {
    if (in_use_ || bytes > sizeof(room_)) return ::operator new(bytes);
    in_use_ = true;
    return room_;
  }
  void deallocate(void* memory) {
    if (memory != room_) return ::operator delete(memory);
    in_use_ = false;
  }

 private:
  alignas(std::max_align_t) std::byte room_[768];
  bool in_use_ = false;
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

#include "transport/loopback_transport.h"

#include <boost/asio/post.hpp>

#include "transport/frame.h"

namespace fibocast {
namespace {
constexpr std::size_t kInboxFrames = 1024;
constexpr std::size_t kBatch = 32;
constexpr std::size_t kLargestPayload = 32 * 1024;
}  // namespace

void LoopbackTransport::start(Handlers handlers) {
  handlers_ = std::move(handlers);
  alive_ = std::make_shared<int>(0);
  hub_.members_[self_] = this;
}

void LoopbackTransport::stop() {
  const auto it = hub_.members_.find(self_);
  if (it != hub_.members_.end() && it->second == this) hub_.members_.erase(it);
  alive_.reset();
  inbox_.clear();
  scheduled_ = false;
}

bool LoopbackTransport::send(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  const auto it = hub_.members_.find(to);
  if (it == hub_.members_.end()) {
    ++counters_.send_errors;
    return true;
  }
  ++counters_.frames_sent;
  counters_.bytes_sent += head.size() + payload.size();
  it->second->take(head, payload);
  return true;
}

std::size_t LoopbackTransport::max_frame(NodeId) const { return kMaxHeadBytes + kLargestPayload; }

std::size_t LoopbackTransport::receive_buffer_bytes(NodeId) const { return kInboxFrames * 1024; }

void LoopbackTransport::take(std::span<const std::byte> head, std::span<const std::byte> payload) {
  if (inbox_.size() >= kInboxFrames) {
    ++counters_.kernel_drops;
    return;
  }
  std::vector<std::byte>& frame = inbox_.emplace_back();
  frame.reserve(head.size() + payload.size());
  frame.insert(frame.end(), head.begin(), head.end());
  frame.insert(frame.end(), payload.begin(), payload.end());
  if (std::exchange(scheduled_, true)) return;
  boost::asio::post(hub_.io_, [this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) deliver_batch();
  });
}

void LoopbackTransport::deliver_batch() {
  const std::weak_ptr alive(alive_);
  for (std::size_t i = 0; i < kBatch && !inbox_.empty(); ++i) {
    const auto frame = std::move(inbox_.front());
    inbox_.pop_front();
    ++counters_.frames_received;
    counters_.bytes_received += frame.size();
    handlers_.on_frame(frame);
    if (alive.expired()) return;
  }
  scheduled_ = !inbox_.empty();
  if (!scheduled_) return;
  boost::asio::post(hub_.io_, [this, alive] {
    if (!alive.expired()) deliver_batch();
  });
}

}  // namespace fibocast

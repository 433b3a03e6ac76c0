#include "transport/faulty_transport.h"

namespace fibocast {

FaultyTransport::FaultyTransport(boost::asio::io_context& io, Transport& inner, const FaultSettings& settings,
                                 std::uint32_t seed)
    : inner_(inner), settings_(settings), random_(seed), timer_(io) {}

void FaultyTransport::cut(NodeId peer, bool is_cut) {
  if (is_cut) {
    cut_.insert(peer);
  } else {
    cut_.erase(peer);
  }
}

void FaultyTransport::stop() {
  held_.clear();
  armed_for_.reset();
  timer_.cancel();
  inner_.stop();
}

bool FaultyTransport::send(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  if (cut_.contains(to) || chance(settings_.loss)) {
    ++lost_;
    return true;
  }
  if (chance(settings_.duplicates) && !send_once(to, head, payload)) return false;
  return send_once(to, head, payload);
}

bool FaultyTransport::chance(double probability) {
  return probability > 0 && std::uniform_real_distribution<double>(0, 1)(random_) < probability;
}

bool FaultyTransport::send_once(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  Nanoseconds delay = settings_.delay;
  if (chance(settings_.reordered))
    delay += std::uniform_int_distribution<Nanoseconds>(0, settings_.most_delay)(random_);
  if (delay == 0) return inner_.send(to, head, payload);
  Held held{to, {head.begin(), head.end()}};
  held.frame.insert(held.frame.end(), payload.begin(), payload.end());
  held_.emplace(Clock::now() + std::chrono::nanoseconds(delay), std::move(held));
  arm();
  return true;
}

void FaultyTransport::arm() {
  if (held_.empty() || armed_for_ == held_.begin()->first) return;
  armed_for_ = held_.begin()->first;
  timer_.expires_at(*armed_for_);
  timer_.async_wait([this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
    if (!error && !alive.expired()) release_due();
  });
}

void FaultyTransport::release_due() {
  armed_for_.reset();
  while (!held_.empty() && held_.begin()->first <= Clock::now()) {
    const Held held = std::move(held_.begin()->second);
    held_.erase(held_.begin());
    inner_.send(held.to, held.frame, {});
  }
  arm();
}

}  // namespace fibocast

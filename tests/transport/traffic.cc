#include "tests/transport/traffic.h"

#include <cstring>

namespace fibocast::test {
namespace {

struct Announcement {
  std::uint32_t number;
  std::uint32_t stream;  // 0: the message is all there is
  std::uint64_t bytes;
};

std::byte content(std::uint32_t number, std::size_t at) {
  return static_cast<std::byte>((number * 131 + at * 7 + (at >> 8) * 13 + (at >> 16) * 29) & 0xff);
}

bool content_is(std::uint32_t number, std::span<const std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != content(number, i)) return false;
  }
  return true;
}

// The announcement and some bytes more, so that bodies have many lengths.
std::vector<std::byte> body_of(const Announcement& a) {
  std::vector<std::byte> body(sizeof a + a.number * 37 % 200);
  for (std::size_t i = sizeof a; i < body.size(); ++i) body[i] = content(a.number, i);
  std::memcpy(body.data(), &a, sizeof a);
  return body;
}

}  // namespace

void Traffic::pump(ReliableChannel& channel, Nanoseconds now) {
  for (; small_released_ < channel.small_released(); ++small_released_) {
    buffers_.erase(small_buffers_.front());
    small_buffers_.pop_front();
  }
  while (!queue_.empty() && channel.small_free() > 0) {
    const Item item = queue_.front();
    if (item.bulk && channel.bulk_send_free() == 0) return;
    queue_.pop_front();
    const BufferId buffer = filled_buffer(next_number_, item.bytes);
    Announcement a{next_number_++, 0, item.bytes};
    if (item.bulk) {
      a.stream = channel.bulk_open(item.bytes, true);
      outgoing_[a.stream] = buffer;
      channel.bulk_extend(a.stream, {buffer, 0, item.bytes}, item.bytes / 2, now);
      channel.bulk_extend(a.stream, {buffer, 0, item.bytes}, item.bytes, now);
      channel.send_small(body_of(a), {}, item.urgent, now);
    } else {
      channel.send_small(body_of(a), {buffer, 0, item.bytes}, item.urgent, now);
    }
    small_buffers_.push_back(item.bulk ? kNoBuffer : buffer);
  }
}

void Traffic::take(const Delivery& d, ReliableChannel& channel) {
  using Kind = Delivery::Kind;
  if (d.kind == Kind::kConnected) ++connected;
  if (d.kind == Kind::kPeerRestarted) ++restarted, forget_streams();
  if (d.kind == Kind::kRefused) ++refused, refused_digest = d.peer_digest;
  if (d.kind == Kind::kSmall) take_small(d, channel);
  if (d.kind == Kind::kBulkData) take_data(d);
  if (d.kind == Kind::kBulkProgress) take_progress(d);
  if (d.kind == Kind::kBulkSent) {
    expect(outgoing_.contains(d.stream), "a stream that is not ours was sent");
    buffers_.erase(outgoing_[d.stream]);
    outgoing_.erase(d.stream);
    ++sent_streams;
  }
}

std::span<const std::byte> Traffic::bytes(const PayloadRange& range) const {
  if (range.length == 0) return {};
  return std::span(buffers_.at(range.buffer)).subspan(range.offset, range.length);
}

void Traffic::take_small(const Delivery& d, ReliableChannel& channel) {
  Announcement a{};
  expect(d.body.size() >= sizeof a, "short body");
  std::memcpy(&a, d.body.data(), std::min(sizeof a, d.body.size()));
  const std::string name = "message " + std::to_string(a.number);
  const auto body = body_of(a);
  expect(std::equal(body.begin(), body.end(), d.body.begin(), d.body.end()), name + ": body differs");
  expect(first_small_ || a.number == expected_small_, name + ", expected " + std::to_string(expected_small_));
  first_small_ = false;
  expected_small_ = a.number + 1;
  if (a.stream != 0) {
    const BufferId buffer = new_buffer(a.bytes);
    incoming_[a.stream] = {a.number, buffer, 0};
    channel.bulk_accept(a.stream, {buffer, 0, a.bytes});
    return;
  }
  expect(d.payload.size() == a.bytes && content_is(a.number, d.payload), name + ": payload differs");
  arrived.push_back(a.number);
  ++smalls;
}

void Traffic::take_data(const Delivery& d) {
  auto& buffer = buffers_.at(d.target.buffer);
  expect(d.target.length == d.payload.size() && d.target.offset + d.target.length <= buffer.size(), "bad range");
  std::copy(d.payload.begin(), d.payload.end(), buffer.begin() + static_cast<std::ptrdiff_t>(d.target.offset));
}

void Traffic::take_progress(const Delivery& d) {
  const auto it = incoming_.find(d.stream);
  if (it == incoming_.end()) return expect(false, "progress of an unknown stream");
  Incoming& in = it->second;
  const auto& buffer = buffers_.at(in.buffer);
  const std::string name = "stream of " + std::to_string(in.number);
  expect(d.contiguous >= in.contiguous && d.contiguous <= buffer.size(), name + ": progress goes back");
  bulk_bytes += d.contiguous - in.contiguous;
  in.contiguous = d.contiguous;
  if (!d.complete) return;
  expect(d.contiguous == buffer.size() && content_is(in.number, buffer), name + ": bytes differ");
  expect(first_bulk_ || in.number > last_bulk_, name + " out of order");
  first_bulk_ = false;
  last_bulk_ = in.number;
  arrived.push_back(in.number);
  ++bulks;
  buffers_.erase(in.buffer);
  incoming_.erase(it);
}

void Traffic::forget_streams() {
  for (const auto& [stream, buffer] : outgoing_) buffers_.erase(buffer);
  for (const auto& [stream, in] : incoming_) buffers_.erase(in.buffer);
  outgoing_.clear();
  incoming_.clear();
  first_small_ = first_bulk_ = true;
}

BufferId Traffic::new_buffer(std::size_t bytes) {
  buffers_[next_buffer_].resize(bytes);
  return next_buffer_++;
}

BufferId Traffic::filled_buffer(std::uint32_t number, std::size_t bytes) {
  const BufferId id = new_buffer(bytes);
  auto& buffer = buffers_[id];
  for (std::size_t i = 0; i < bytes; ++i) buffer[i] = content(number, i);
  return id;
}

void Traffic::expect(bool holds, const std::string& what) {
  if (!holds) errors.push_back(what);
}

}  // namespace fibocast::test

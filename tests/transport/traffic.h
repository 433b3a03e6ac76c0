// What a node does with one channel, reduced to a test: numbered messages and streams go out, and every one that
// comes in is checked for order, number and bytes. Used in virtual time and over real transports.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "transport/reliable_channel.h"

namespace fibocast::test {

class Traffic {
 public:
  // -- what to send
  void queue_small(std::size_t payload_bytes, bool urgent = true) { queue_.push_back({false, payload_bytes, urgent}); }
  void queue_bulk(std::size_t bytes) { queue_.push_back({true, bytes, true}); }
  // Hands over as much as the channel takes now.
  void pump(ReliableChannel& channel, Nanoseconds now);
  bool all_handed_over() const { return queue_.empty(); }

  // -- what came
  void take(const Delivery& delivery, ReliableChannel& channel);
  std::span<const std::byte> bytes(const PayloadRange& range) const;

  std::vector<std::string> errors;     // everything that broke the promise
  std::vector<std::uint32_t> arrived;  // numbers in the order in which they were complete
  std::uint32_t smalls = 0, bulks = 0, connected = 0, restarted = 0, refused = 0, sent_streams = 0;
  std::uint64_t refused_digest = 0;
  std::uint64_t bulk_bytes = 0;  // of streams, as they became whole

 private:
  struct Item {
    bool bulk;
    std::size_t bytes;
    bool urgent;
  };
  struct Incoming {
    std::uint32_t number;
    BufferId buffer;
    std::uint64_t contiguous;
  };
  BufferId new_buffer(std::size_t bytes);
  BufferId filled_buffer(std::uint32_t number, std::size_t bytes);
  void take_small(const Delivery& d, ReliableChannel& channel);
  void take_data(const Delivery& d);
  void take_progress(const Delivery& d);
  void forget_streams();
  void expect(bool holds, const std::string& what);

  std::deque<Item> queue_;
  std::map<BufferId, std::vector<std::byte>> buffers_;
  std::map<std::uint32_t, BufferId> outgoing_;  // stream -> buffer
  std::map<std::uint32_t, Incoming> incoming_;  // stream -> item
  std::deque<BufferId> small_buffers_;          // of messages not yet released, in order
  std::uint64_t small_released_ = 0;
  std::uint32_t next_number_ = 0;
  BufferId next_buffer_ = 0;
  bool first_small_ = true, first_bulk_ = true;  // a former life may have received the ones before
  std::uint32_t expected_small_ = 0;
  std::uint32_t last_bulk_ = 0;
};

}  // namespace fibocast::test

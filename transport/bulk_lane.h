// The bulk lane: byte streams in fragments, into buffers that the receiving node has named. The fragments of
// all streams are numbered together; a stream's own are cut in order of their offset, so what is whole in the
// lane is whole in each stream. Core.
#pragma once

#include "transport/channel_types.h"
#include "transport/memory_carver.h"
#include "transport/receive_window.h"
#include "transport/send_window.h"
#include "transport/stream_places.h"

namespace fibocast {

class BulkSender {
 public:
  static std::size_t bytes_needed(const ChannelLimits& limits);
  BulkSender(const ChannelLimits& limits, MemoryCarver& memory);

  void reset();  // forgets fragments and streams; stream numbers go on
  SendWindow& window() { return window_; }
  const SendWindow& window() const { return window_; }
  std::uint32_t streams_free() const;
  bool idle() const;  // nothing unacknowledged and nothing left to cut
  std::uint32_t open(std::uint64_t total, bool awaited);
  void extend(std::uint32_t stream, PayloadRange source, std::uint64_t available);
  void cancel(std::uint32_t stream);
  // From its beginning and under a new number, which it returns; 0 if there is none of this number. Nothing is cut
  // before extend(). Precondition: the peer has taken nothing of it.
  std::uint32_t restart(std::uint32_t stream);
  // Cuts the next fragment, of the oldest stream that has bytes, if the window and `credit` (bytes in flight)
  // allow; one fragment may always be in flight.
  bool cut(std::uint32_t fragment_bytes, std::uint64_t credit);
  // The fragment of this sequence, into the frame, its body into `body`; its payload range.
  PayloadRange fill(std::uint32_t sequence, Frame& frame, std::span<std::byte, FragmentBody::kBytes> body) const;
  void on_acknowledged(std::uint32_t sequence);
  // After acknowledgements. A stream ends when the lane is whole up to its last fragment: then the receiver has
  // given its place to another stream as well, so neither side ever holds more streams than the other has places.
  void on_base_moved();
  // A stream that the peer has whole: its number, once; else 0.
  std::uint32_t poll_sent();

 private:
  struct Stream {
    std::uint32_t number = 0;  // 0: free
    std::uint32_t unacknowledged = 0;
    std::uint64_t total = 0;
    std::uint64_t available = 0;
    std::uint64_t cut = 0;
    PayloadRange source;
    bool extended = false;
    bool awaited = false;
    bool all_cut = false;
    bool sent() const { return number != 0 && all_cut && unacknowledged == 0; }
    bool has_bytes() const { return number != 0 && !all_cut && extended && (available > cut || total == 0); }
  };
  struct Fragment {
    std::uint64_t offset = 0;
    std::uint32_t length = 0;
    std::uint32_t stream_slot = 0;
  };
  std::uint32_t next_number();
  void empty_fragments(const Stream& stream, bool were_dropped);
  Stream* oldest_with_bytes();
  std::uint32_t oldest_open() const;

  SendWindow window_;
  std::span<Fragment> fragments_;
  StreamPlaces<Stream> streams_;
  std::uint32_t last_number_ = 0;
  std::uint64_t in_flight_ = 0;  // bytes
  std::uint32_t released_ = 0;   // all fragments below were taken off their streams
};

class BulkReceiver {
 public:
  enum class Verdict : std::uint8_t { kTaken, kAhead, kDuplicate, kDropped, kUnknownStream, kMalformed };
  static std::size_t bytes_needed(const ChannelLimits& limits);
  BulkReceiver(const ChannelLimits& limits, MemoryCarver& memory);

  void reset();
  const ReceiveWindow& window() const { return window_; }
  bool drained() const { return delivered_ == window_.expected() && !fresh_; }
  std::uint32_t streams_free() const;
  // Both true: fragments of it came before and were dropped, so the peer should send them again.
  bool accept(std::uint32_t stream, PayloadRange target);
  bool discard(std::uint32_t stream);
  // Precondition: drained(). The frame's spans must live until it is drained again.
  Verdict on_frame(const Frame& frame);
  // Where this fragment's payload, which need not be there yet, will go: on_frame() would take it. Else kNoBuffer.
  PayloadRange place_of(const Frame& frame) const;
  // The next kBulkData or kBulkProgress. Fragments that leave a hole in their stream count as `malformed`.
  bool poll(Delivery& out, std::uint64_t& malformed);

 private:
  struct Stream {
    std::uint32_t number = 0;  // 0: free
    BufferId buffer = kNoBuffer;
    std::uint64_t begin = 0, length = 0;  // of the target
    std::uint64_t contiguous = 0;         // bytes from its beginning that are here
  };
  struct Arrived {  // a fragment, until the lane is whole up to it
    std::uint64_t begin = 0;
    std::uint32_t length = 0;
    std::uint32_t stream = 0;
  };
  static bool fits(const Stream& stream, std::uint64_t offset, std::uint64_t bytes);
  bool discarded(std::uint32_t number) const;
  void forget_discarded_below(std::uint32_t number);
  void note_missed(std::uint32_t number);
  bool was_missed(std::uint32_t number);
  bool poll_progress(Delivery& out, std::uint64_t& malformed);
  const Arrived& arrived(std::uint32_t sequence) const { return arrived_[sequence & (arrived_.size() - 1)]; }

  ReceiveWindow window_;
  std::span<Arrived> arrived_;
  StreamPlaces<Stream> streams_;
  std::span<std::uint32_t> discarded_;  // 0: free
  std::uint32_t next_discarded_ = 0;
  std::uint32_t missed_first_ = 0, missed_last_ = 0;  // streams whose fragments came before they were accepted; 0: none
  std::uint32_t delivered_ = 0;                       // the progress of all below went up
  PayloadRange fresh_target_;
  std::span<const std::byte> fresh_payload_;
  std::uint32_t fresh_stream_ = 0;
  bool fresh_ = false;  // this payload, of the frame last given, did not go up yet
};

}  // namespace fibocast

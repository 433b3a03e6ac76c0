#include <cstddef>
#include <vector>

#include "tests/fuzz/input.h"
#include "tests/fuzz/peer_frames.h"
#include "transport/reliable_channel.h"

namespace fibocast::fuzz {
namespace {

// A channel whose peer is the input.
class AttackedChannel {
 public:
  AttackedChannel() {
    ChannelSettings settings;
    settings.self = 0, settings.peer = 1, settings.incarnation = 77;
    channel_.emplace(kLimits, settings, std::as_writable_bytes(std::span(memory_)), ReadyFlag(ready_, 0));
    channel_->connect(now_);
    take(peer_.hello());
    take(peer_.acknowledgement());
  }
  void step(Input& input) {
    switch (input.below(9)) {
      case 0: return take(peer_.hello());
      case 1: return take(peer_.acknowledgement());
      case 2: return small(input);
      case 3: return fragment(input);
      case 4: return changed(input);
      case 5: return take({input.piece()});
      case 6: return pass_time(static_cast<Nanoseconds>(input.number(2)) * 100'000);
      case 7: return send(input);
      case 8: return command(input);
    }
  }

 private:
  static constexpr ChannelLimits kLimits{8, 64, 16, 4};
  static constexpr std::uint8_t kLeastFragment = 64;  // bytes

  void take(const std::vector<std::byte>& bytes) { take(Bytes(bytes)); }
  void take(Bytes bytes) {
    const auto frame = decode_frame(bytes);
    if (!frame) return;
    channel_->on_frame(*frame, now_);
    drain();
  }
  void small(Input& input) {
    const Bytes body = input.piece();
    take(peer_.small(body, input.piece()));
  }
  void fragment(Input& input) {
    const FragmentBody body{static_cast<std::uint32_t>(input.number(1)), static_cast<std::uint32_t>(input.number(1)),
                            input.number(2)};
    take(peer_.fragment(body, input.piece()));
  }
  // A right frame with a few bytes written over.
  void changed(Input& input) {
    std::vector<std::byte> frame = peer_.small(input.piece(), {});
    for (std::uint8_t k = input.below(4); k > 0; --k)
      frame[input.number(1) % frame.size()] = static_cast<std::byte>(input.number(1));
    take(frame);
  }
  void pass_time(Nanoseconds duration) {
    now_ += duration;
    channel_->on_timer(now_);
    drain();
  }
  void send(Input& input) {
    if (channel_->small_free() == 0) return;
    const Bytes body = input.piece();
    channel_->send_small(body.first(std::min<std::size_t>(body.size(), kLimits.small_body)),
                         {0, 0, input.below(kLeastFragment)}, input.number(1) % 2 == 1, now_);
    drain();
  }
  void command(Input& input) {
    const auto stream = std::uint32_t{1} + input.below(255);  // 0 is nobody's
    switch (input.below(6)) {
      case 0: channel_->probe(now_); break;
      case 1: channel_->renew(now_); break;
      case 2: channel_->on_path_reset(now_); break;
      case 3:
        if (channel_->bulk_receive_free() > 0 && !accepted_[stream]) {
          accepted_[stream] = true;
          channel_->bulk_accept(stream, {0, 0, 1 + input.number(2)});
        }
        break;
      case 4:
        if (channel_->bulk_send_free() > 0)
          channel_->bulk_extend(channel_->bulk_open(1 + stream, true), {0, 0, 1 + stream}, 1 + stream, now_);
        break;
      case 5: channel_->set_fragment_bytes(kLeastFragment + stream); break;
    }
    drain();
  }
  void drain() {
    Delivery delivery;
    while (channel_->poll_delivery(delivery)) {
      if (delivery.kind == Delivery::Kind::kBulkData)
        require(delivery.payload.size() <= delivery.target.length && delivery.target.offset < 1 << 17);
      if (delivery.kind == Delivery::Kind::kPeerRestarted) accepted_ = {};
    }
    std::array<std::byte, kMaxHeadBytes> scratch;
    Transmit out;
    while (channel_->poll_transmit(now_, scratch, out)) {
      std::vector<std::byte> bytes(out.head.begin(), out.head.end());
      bytes.resize(bytes.size() + out.payload.length);
      require(decode_frame(bytes).has_value());
      peer_.hear(bytes);
    }
  }

  std::vector<std::max_align_t> memory_ =
      std::vector<std::max_align_t>(ReliableChannel::bytes_needed(kLimits) / sizeof(std::max_align_t) + 1);
  std::uint64_t ready_ = 0;
  std::optional<ReliableChannel> channel_;
  PeerFrames peer_{1, 0, 0};
  Nanoseconds now_ = 1'000'000'000;
  std::array<bool, 256> accepted_{};  // streams that were named once
};

}  // namespace

void fuzz_channel(Bytes bytes) {
  AttackedChannel channel;
  for (Input input(bytes); !input.empty();) channel.step(input);
}

}  // namespace fibocast::fuzz

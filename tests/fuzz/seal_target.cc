// Sealing: two sealers and a wire on which the input loses, repeats, changes, reorders and invents datagrams.
#include <algorithm>
#include <map>

#include "tests/fuzz/input.h"
#include "tests/transport/seal/sealed_pair.h"
#include "transport/little_endian.h"

namespace fibocast::fuzz {
namespace {

constexpr std::size_t kLargestFrame = 1000;

// Each frame arrives as it was sent, and at most once.
class Wire {
 public:
  Wire() { sent_[test::plain_frame(0, 1)] = 1; }
  void connect() { pair_.connect(), check(); }
  void step(Input& input) {
    const auto what = input.below(8);
    switch (what) {
      case 0:
      case 1: send(what); break;
      case 2: pair_.now += static_cast<Nanoseconds>(input.number(2)) * 50'000'000; break;
      case 3: pair_.give(input.below(2), input.piece()); break;
      default:
        if (!pair_.wire.empty()) on_wire(what, input);
    }
    check();
  }

 private:
  void send(NodeId from) {
    test::Bytes frame = test::plain_frame(from, 1 - from, sizeof number_);
    little_endian::put(frame.data() + frame.size() - sizeof number_, ++number_);
    sent_[frame] = 1;
    pair_.send(from, frame);
  }
  void on_wire(int what, Input& input) {
    test::Datagram& front = pair_.wire.front();
    switch (what) {
      case 4: pair_.give(front.to, front.bytes), pair_.wire.pop_front(); break;
      case 5: pair_.wire.pop_front(); break;
      case 6: change(front, input); break;
      default: pair_.wire.push_back(front), std::rotate(pair_.wire.begin(), pair_.wire.begin() + 1, pair_.wire.end());
    }
  }
  static void change(test::Datagram& datagram, Input& input) {
    datagram.bytes[input.number(2) % datagram.bytes.size()] ^= static_cast<std::byte>(input.number(1));
    const auto more = input.number(1);
    if (more % 4 == 1) datagram.bytes.resize(1 + more % datagram.bytes.size());
    if (more % 4 == 2) datagram.to = 1 - datagram.to;
  }
  void check() {
    for (auto& side : pair_.sides) {
      for (const test::Bytes& frame : side.received) {
        const auto found = sent_.find(frame);
        require(found != sent_.end() && found->second-- == 1);
      }
      side.received.clear();
    }
  }

  test::SealedPair pair_{SealMode::kSealed, true, kLargestFrame};
  std::map<test::Bytes, int> sent_;
  std::uint64_t number_ = 0;
};

}  // namespace

void fuzz_seal(Bytes bytes) {
  Input input(bytes.first(std::min<std::size_t>(bytes.size(), 512)));
  Wire wire;
  if (input.below(4) == 0) wire.connect();
  while (!input.empty()) wire.step(input);
}

// With the right first bytes, and right codes where the input asks for them: as who has the key could write it.
void fuzz_seal_datagram(Bytes bytes) {
  static const ClusterKey key = test::key_of(7);
  Input input(bytes);
  test::SealedPair pair(SealMode::kSealed, true, kLargestFrame);
  if (input.below(4) == 0) pair.connect();
  while (!input.empty()) {
    const auto choice = input.number(1);
    const Bytes text = input.piece();
    test::Bytes datagram(text.begin(), text.end());
    constexpr std::size_t kLengths[] = {seal::FirstMessage::kBytes, seal::AnswerMessage::kBytes};
    if (choice % 4 < 2) datagram.resize(kLengths[choice % 4]);
    if (datagram.size() >= 12 && choice % 8 != 7)
      seal::put_kind(static_cast<seal::Kind>(1 + choice % 3), datagram.data());
    if (datagram.size() >= seal::FirstMessage::kBytes && choice % 16 != 15) {
      little_endian::put(datagram.data() + 4, NodeId{1});
      little_endian::put(datagram.data() + 8, NodeId{0});
      little_endian::put(datagram.data() + 12, key.id());
    }
    if (datagram.size() >= seal::kCodeBytes) seal::put_code(key, datagram);
    pair.give(0, datagram);
    require(pair.sides[0].received.empty());
    pair.wire.clear();
    pair.now += 10'000'000;
  }
}

}  // namespace fibocast::fuzz

// What two hosts say to each other for a relay (relay.h), and how one says that it takes none: whoever asked, a client
// of the other daemon, is to hear that at once, and not nothing until its time is over.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>

#include "runtime/daemon/node_host.h"

namespace fibocast {

enum class RelayMessage : std::uint8_t { kData, kTaken, kEnd };

inline constexpr std::uint64_t kRelayOpenTag = ~std::uint64_t{0};  // "I open a relay; its messages have this tag"
inline constexpr std::uint64_t kRelayToOpener = std::uint64_t{1} << 62;

// The tag of a relay that was opened by this message. None: it is no such message.
std::optional<std::uint64_t> opened_relay(NodeHost& host, const Event& event);
// False: no room in the node just now.
bool send_relay_message(NodeHost& host, NodeId to, std::uint64_t tag, RelayMessage kind,
                        std::span<const std::byte> data = {});

// Answers to those whose relays are not taken: one sentence, and the end. What they say on it meanwhile is nobody's.
class RelayRefusals {
 public:
  static constexpr std::size_t kMost = 512;  // one more is not answered
  RelayRefusals(NodeHost& host, std::string_view sentence);

  void add(NodeId opener, std::uint64_t tag);
  void forget(NodeId opener);
  // Goes on with what there was no room for. True if something was given to the node.
  bool retry();

 private:
  struct Refusal {
    NodeId opener = kNoNode;
    std::uint64_t tag = 0;
    bool told = false;
  };
  bool answer(Refusal& refusal);

  NodeHost& host_;
  std::string words_;  // as the opener's client reads them
  std::deque<Refusal> owed_;
};

}  // namespace fibocast

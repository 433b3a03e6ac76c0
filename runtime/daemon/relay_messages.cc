#include "runtime/daemon/relay_messages.h"

#include <algorithm>
#include <cstring>

#include "runtime/wire/client_codec.h"
#include "runtime/wire/client_status.h"

namespace fibocast {

std::optional<std::uint64_t> opened_relay(NodeHost& host, const Event& event) {
  std::uint64_t tag = 0;
  if (event.tag != kRelayOpenTag || event.range.length != sizeof tag) return {};
  std::memcpy(&tag, host.bytes_of(event.range).data(), sizeof tag);
  if (tag < Node::kFirstReservedTag || (tag & kRelayToOpener) != 0 || (tag >> 32 & 0xffff) != event.peer) return {};
  return tag;
}

bool send_relay_message(NodeHost& host, NodeId to, std::uint64_t tag, RelayMessage kind,
                        std::span<const std::byte> data) {
  const auto buffer = host.node().reserve_buffer(1 + data.size(), BufferFor::kHostsMessage);
  if (!buffer) return false;
  const PayloadRange range{*buffer, 0, 1 + data.size()};
  const std::span<std::byte> bytes = host.bytes_of(range);
  bytes.front() = static_cast<std::byte>(kind);
  std::ranges::copy(data, bytes.begin() + 1);
  if (host.node().send_message(to, tag, range, host.now()) == Admission::kTaken) return true;
  host.node().release_buffer(*buffer);
  return false;
}

RelayRefusals::RelayRefusals(NodeHost& host, std::string_view sentence) : host_(host) {
  client::Response response;
  set_status(client::CODE_UNAVAILABLE, sentence, *response.mutable_status());
  append_frame(response, words_);
}

void RelayRefusals::add(NodeId opener, std::uint64_t tag) {
  if (owed_.size() < kMost) owed_.push_back({opener, tag | kRelayToOpener});
}

void RelayRefusals::forget(NodeId opener) {
  std::erase_if(owed_, [&](const Refusal& r) { return r.opener == opener; });
}

bool RelayRefusals::answer(Refusal& r) {
  if (!r.told && !send_relay_message(host_, r.opener, r.tag, RelayMessage::kData, std::as_bytes(std::span(words_))))
    return false;
  r.told = true;
  return send_relay_message(host_, r.opener, r.tag, RelayMessage::kEnd);
}

bool RelayRefusals::retry() {
  return std::erase_if(owed_, [this](Refusal& refusal) { return answer(refusal); }) > 0;
}

}  // namespace fibocast

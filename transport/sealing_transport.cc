#include "transport/sealing_transport.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "transport/monotonic_now.h"
#include "transport/udp_transport.h"

namespace fibocast {
namespace {

std::uint64_t wall_clock_ns() {
  return static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

SealSettings completed(SealSettings settings) {
  settings.first_stamp = wall_clock_ns();
  settings.largest_frame = kMaxHeadBytes + kLoopbackPayload;
  return settings;
}

}  // namespace

SealingTransport::SealingTransport(Transport& inner, SealSettings settings, KeyRing keys,
                                   decltype(Sealer::Host::on_refused) on_refused)
    : inner_(inner),
      mode_(settings.mode),
      sealer_(completed(std::move(settings)), std::move(keys),
              {.send = [this](NodeId to, std::span<const std::byte> datagram) { inner_.send(to, datagram, {}); },
               .random = [](std::span<std::byte> out) { randombytes_buf(out.data(), out.size()); },
               .on_refused = std::move(on_refused)}) {}

void SealingTransport::set_keys(KeyRing keys) { sealer_.set_keys(std::move(keys), monotonic_tick()); }

void SealingTransport::start(Handlers handlers) {
  handlers_ = std::move(handlers);
  inner_.start({.on_frame = [this](std::span<const std::byte> datagram) { return on_datagram(datagram); },
                .on_parts = [this](std::span<const std::byte> head,
                                   std::span<const std::byte> payload) { return on_parts(head, payload); },
                .on_writable =
                    [this](NodeId peer) {
                      if (handlers_.on_writable) handlers_.on_writable(peer);
                    },
                .on_reset =
                    [this](NodeId peer) {
                      sealer_.doubt(peer);
                      if (handlers_.on_reset) handlers_.on_reset(peer);
                    },
                .on_refused =
                    [this](NodeId peer) {
                      sealer_.doubt(peer);
                      if (handlers_.on_refused) handlers_.on_refused(peer);
                    }});
}

bool SealingTransport::send(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  const auto datagram = sealer_.seal(to, head, payload, monotonic_tick());
  return datagram.empty() || inner_.send(to, datagram, {});
}

bool SealingTransport::gather(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  // With integrity only, everybody could read the payload's key, and make another payload.
  const bool may_share = mode_ == SealMode::kSealed && payload.size() >= kLeastSharedPayload;
  if (may_share && inner_.shares_payloads(to)) {
    if (const auto session = sealer_.session(to)) return gather_shared(to, head, payload, session->algorithm);
  }
  const auto datagram = sealer_.seal(to, head, payload, monotonic_tick());
  return datagram.empty() || inner_.gather(to, datagram, {});
}

bool SealingTransport::gather_shared(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload,
                                     SealAlgorithm algorithm) {
  if (!shared_.holds(payload, algorithm)) {
    if (!shared_.is_empty()) inner_.flush();  // what was gathered points into the one before
    SecretKey key;
    randombytes_buf(key.raw(), kKeyBytes);
    shared_.seal(payload, algorithm, key);
  }
  const auto sealed_head = sealer_.seal_head(to, head, shared_.key(), monotonic_tick());
  return sealed_head.empty() || inner_.gather(to, sealed_head, shared_.bytes());
}

void SealingTransport::flush() {
  inner_.flush();
  shared_.forget();
}

bool SealingTransport::on_datagram(std::span<const std::byte> datagram) {
  const Sealer::Opened opened = sealer_.open(datagram, monotonic_tick());
  if (!opened.frame.empty()) handlers_.on_frame(opened.frame);
  return opened.authentic;
}

// The payload is opened into its place: nothing is read there before on_parts() has said that it came.
bool SealingTransport::on_parts(std::span<const std::byte> sealed_head, std::span<const std::byte> sealed_payload) {
  const Sealer::Opened opened = sealer_.open_head(sealed_head, monotonic_tick());
  if (opened.frame.size() < kKeyBytes || sealed_payload.size() < SharedPayload::kOverhead) return opened.authentic;
  const auto head = opened.frame.first(opened.frame.size() - kKeyBytes);
  SecretKey key;
  std::ranges::copy(opened.frame.last(kKeyBytes), key.bytes.begin());
  const std::size_t bytes = sealed_payload.size() - SharedPayload::kOverhead;
  std::byte* place = handlers_.place_of ? handlers_.place_of(head, bytes) : nullptr;
  if (place == nullptr) {
    room_.resize(bytes);
    place = room_.data();
  }
  if (!open_shared_payload(sealed_payload, opened.algorithm, key, {place, bytes})) {
    sealer_.count_forged();
    return opened.authentic;
  }
  if (handlers_.on_parts) handlers_.on_parts(head, {place, bytes});
  return opened.authentic;
}

}  // namespace fibocast

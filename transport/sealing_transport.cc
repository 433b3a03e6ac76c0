#include "transport/sealing_transport.h"

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
      sealer_(completed(std::move(settings)), std::move(keys),
              {.send = [this](NodeId to, std::span<const std::byte> datagram) { inner_.send(to, datagram, {}); },
               .random = [](std::span<std::byte> out) { randombytes_buf(out.data(), out.size()); },
               .on_refused = std::move(on_refused)}) {}

void SealingTransport::set_keys(KeyRing keys) { sealer_.set_keys(std::move(keys), monotonic_now()); }

void SealingTransport::start(Handlers handlers) {
  handlers_ = std::move(handlers);
  inner_.start({.on_frame = [this](std::span<const std::byte> datagram) { return on_datagram(datagram); },
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
  const auto datagram = sealer_.seal(to, head, payload, monotonic_now());
  return datagram.empty() || inner_.send(to, datagram, {});
}

bool SealingTransport::gather(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  const auto datagram = sealer_.seal(to, head, payload, monotonic_now());
  return datagram.empty() || inner_.gather(to, datagram, {});
}

bool SealingTransport::on_datagram(std::span<const std::byte> datagram) {
  const Sealer::Opened opened = sealer_.open(datagram, monotonic_now());
  if (!opened.frame.empty()) handlers_.on_frame(opened.frame);
  return opened.authentic;
}

}  // namespace fibocast

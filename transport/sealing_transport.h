// Seals every frame on its way to another transport, and opens what comes from there; see seal/sealer.h. What is not
// authentic ends here: nothing above ever sees it.
#pragma once

#include "transport/seal/sealer.h"
#include "transport/seal/shared_payload.h"
#include "transport/transport.h"

namespace fibocast {

class SealingTransport final : public Transport {
 public:
  // `inner` outlives it. `settings.largest_frame` and `.first_stamp` are filled in here.
  SealingTransport(Transport& inner, SealSettings settings, KeyRing keys,
                   decltype(Sealer::Host::on_refused) on_refused);

  // Bytes that a transport must have room for beyond a frame.
  static constexpr std::size_t kOverhead = seal::kFrameOverhead;
  Sealer& sealer() { return sealer_; }
  const Sealer& sealer() const { return sealer_; }
  // Other keys from now on: Sealer::set_keys().
  void set_keys(KeyRing keys);

  void start(Handlers handlers) override;
  bool send(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) override;
  bool gather(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) override;
  void flush() override;
  std::size_t max_frame(NodeId to) const override { return inner_.max_frame(to) - kOverhead; }
  std::size_t receive_buffer_bytes(NodeId from) const override { return inner_.receive_buffer_bytes(from); }
  void stop() override { inner_.stop(); }
  bool can_poll() const override { return inner_.can_poll(); }
  bool poll() override { return inner_.poll(); }

 private:
  bool gather_shared(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload,
                     SealAlgorithm algorithm);
  bool on_datagram(std::span<const std::byte> datagram);
  bool on_parts(std::span<const std::byte> sealed_head, std::span<const std::byte> sealed_payload);

  Transport& inner_;
  Handlers handlers_;
  SealMode mode_;
  Sealer sealer_;
  SharedPayload shared_;         // the latest that was gathered
  std::vector<std::byte> room_;  // for one that was opened
};

}  // namespace fibocast

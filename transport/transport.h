// The interface that UDP, TCP and the in-process transport share.
//
// What a transport promises: a frame handed to send() reaches the peer's on_frame() whole and unchanged,
// or not at all; it may come late, twice or out of order. The reliable channel above makes "exactly once, in
// order per peer and lane" of it, on every transport alike.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "transport/words.h"

namespace fibocast {

inline constexpr std::size_t kLeastSharedPayload = 4096;  // bytes; a smaller one goes with each frame that has it

// Moves frames between nodes. One thread: the one that runs the host's io_context.
class Transport {
 public:
  struct Handlers {
    // A whole frame arrived; the bytes are valid during the call only. False: it is none, or not authentic.
    std::function<bool(std::span<const std::byte> frame)> on_frame;
    // A frame that comes in two parts, head and payload: where is its payload, which is still in a peer's memory or
    // sealed, to be copied to? Null: anywhere. Then on_parts() has the frame, as on_frame() else.
    std::function<std::byte*(std::span<const std::byte> head, std::size_t payload_bytes)> place_of = {};
    std::function<bool(std::span<const std::byte> head, std::span<const std::byte> payload)> on_parts = {};
    // After send() returned false: this peer takes frames again.
    std::function<void(NodeId peer)> on_writable;
    // Frames handed to send() may be lost (a TCP connection broke). Evidence, not a verdict.
    std::function<void(NodeId peer)> on_reset;
    // The peer's host says that nobody listens there. Evidence, not a verdict.
    std::function<void(NodeId peer)> on_refused;
  };
  virtual ~Transport() = default;
  virtual void start(Handlers handlers) = 0;
  // Forgets the frame once it returns. `payload` follows `head` on the wire. False: taken, but the peer's
  // queue is now full; send nothing more to it before on_writable().
  virtual bool send(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) = 0;
  // As send(), of a frame that may wait for others: the frames of a fan-out may leave together in flush(). A payload
  // stays where it is until then.
  virtual bool gather(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) {
    return send(to, head, payload);
  }
  virtual void flush() {}
  // gather() sends a payload of kLeastSharedPayload once to all that get the same, and this peer can take part.
  virtual bool shares_payloads(NodeId) const { return false; }
  // Largest frame (head + payload) that can be sent to this peer.
  virtual std::size_t max_frame(NodeId to) const = 0;
  // So many bytes may be on their way to this peer and none is lost if it is slow, as in shared memory; 0: some may be.
  virtual std::size_t held_bytes(NodeId) const { return 0; }
  // Bytes of this peer's frames that our kernel can hold where they are as large as they may be: the basis of bulk
  // credit (PROTOCOL 12).
  virtual std::size_t receive_buffer_bytes(NodeId from) const = 0;
  virtual void stop() = 0;
  // A transport that can take what has come without being told by the event loop that something has: a host that waits
  // for an operation asks it again and again, which is cheaper than asking the loop. poll() takes at most one frame.
  virtual bool can_poll() const { return false; }
  virtual bool poll() { return false; }
  // What poll() finds comes through memory mostly; else each look is a system call.
  virtual bool polls_memory() const { return false; }
  // Frames that come through memory, which the event loop knows nothing of: takes at most one, without a system call.
  virtual bool poll_memory() { return false; }
  // Memory for payloads that will be sent: from there peers take them without a copy on the way. Nothing: there is
  // none. What was sent from it and is still on its way is lost when it is given back.
  virtual std::span<std::byte> take_payload_memory(std::size_t) { return {}; }
  virtual void give_back_payload_memory(const std::byte*) {}
  // The host is about to sleep in the event loop. False: something has come already; else the loop will be told.
  virtual bool rest() { return true; }
};

}  // namespace fibocast

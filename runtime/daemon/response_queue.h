// Responses on their way to one local client. Heads are collected in one string; payloads are written from where the
// node keeps them, and their buffers are given back when the kernel has the bytes.
#pragma once

#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "runtime/daemon/node_host.h"
#include "runtime/wire/client.pb.h"

namespace fibocast {

class ResponseQueue {
 public:
  explicit ResponseQueue(NodeHost& host) : host_(host) {}
  ~ResponseQueue() = default;
  ResponseQueue(const ResponseQueue&) = delete;
  ResponseQueue& operator=(const ResponseQueue&) = delete;

  // Takes over `payload`'s buffer, if it has one.
  void add(const client::Response& response, const PayloadRange& payload);
  bool empty() const { return waiting_.parts.empty() && writing_.parts.empty(); }
  bool writing() const { return !writing_.parts.empty(); }
  // The client does not read its answers: take no more requests until it does.
  bool full() const { return waiting_.parts.size() >= kMaxParts || waiting_.heads.size() >= kMaxHeadBytesWaiting; }

  // All that waits, in order; to be written whole. Precondition: !writing(). Valid until end_batch().
  std::span<const boost::asio::const_buffer> begin_batch();
  void end_batch();
  // Gives all buffers back: the client has gone.
  void clear();

 private:
  static constexpr std::size_t kMaxParts = 64;
  static constexpr std::size_t kMaxHeadBytesWaiting = 256 << 10;
  struct Part {
    std::size_t head_end;  // the head is what lies between the part before and here
    PayloadRange payload;
  };
  struct Batch {
    std::string heads;
    std::vector<Part> parts;
  };
  void release(Batch& batch);

  NodeHost& host_;
  Batch waiting_, writing_;
  std::vector<boost::asio::const_buffer> buffers_;
};

}  // namespace fibocast

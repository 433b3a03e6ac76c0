#include "runtime/daemon/response_queue.h"

#include <utility>

#include "runtime/wire/client_codec.h"

namespace fibocast {

void ResponseQueue::add(const client::Response& response, const PayloadRange& payload) {
  append_frame_head(response, payload.length, waiting_.heads);
  const bool merge = !waiting_.parts.empty() && waiting_.parts.back().payload.buffer == kNoBuffer;
  if (merge)
    waiting_.parts.back() = {waiting_.heads.size(), payload};
  else
    waiting_.parts.push_back({waiting_.heads.size(), payload});
}

std::span<const boost::asio::const_buffer> ResponseQueue::begin_batch() {
  std::swap(waiting_, writing_);
  buffers_.clear();
  std::size_t begin = 0;
  for (const Part& part : writing_.parts) {
    buffers_.emplace_back(writing_.heads.data() + begin, part.head_end - begin);
    begin = part.head_end;
    const auto payload = host_.bytes_of(part.payload);
    if (!payload.empty()) buffers_.emplace_back(payload.data(), payload.size());
  }
  return buffers_;
}

void ResponseQueue::release(Batch& batch) {
  for (const Part& part : batch.parts)
    if (part.payload.buffer != kNoBuffer) host_.node().release_buffer(part.payload.buffer);
  batch.parts.clear();
  batch.heads.clear();
}

void ResponseQueue::end_batch() { release(writing_); }

void ResponseQueue::clear() {
  release(writing_);
  release(waiting_);
}

}  // namespace fibocast

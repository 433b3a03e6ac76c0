#include "runtime/wire/client_codec.h"

#include <google/protobuf/io/coded_stream.h>

#include <limits>

namespace fibocast {
namespace {

using google::protobuf::io::CodedInputStream;

// The wire types of Protocol Buffers, in the low three bits of a tag.
enum WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

void put_varint(std::uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

std::size_t varint_bytes(std::uint64_t value) {
  std::size_t n = 1;
  for (; value >= 0x80; value >>= 7) ++n;
  return n;
}

void put_bytes_head(int field, std::uint64_t length, std::string& out) {
  put_varint(static_cast<std::uint32_t>(field) << 3 | kBytes, out);
  put_varint(length, out);
}

void put_length(std::size_t at, std::uint64_t length, std::string& out) {
  for (std::size_t i = 0; i < kFrameLengthBytes; ++i) out[at + i] = static_cast<char>(length >> (8 * i));
}

bool skip_value(std::uint32_t tag, CodedInputStream& in) {
  std::uint64_t value;
  switch (tag & 7) {
    case kVarint: return in.ReadVarint64(&value);
    case kFixed64: return in.Skip(8);
    case kFixed32: return in.Skip(4);
    case kBytes: return in.ReadVarint64(&value) && value <= std::numeric_limits<int>::max() && in.Skip(int(value));
    default: return false;
  }
}

// A run of bytes inside a frame, with the field's tag and length (`whole`) and without (`value`).
struct Field {
  std::span<const std::byte> whole;
  std::span<const std::byte> value;
};

// Walks the fields of `bytes` and finds the one field `number` of bytes. False: malformed, or more than one.
bool find_bytes_field(std::span<const std::byte> bytes, int number, Field& found) {
  CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
  for (int begin = 0;; begin = in.CurrentPosition()) {
    const std::uint32_t tag = in.ReadTag();
    if (tag == 0) return in.ConsumedEntireMessage();
    if (tag != (static_cast<std::uint32_t>(number) << 3 | kBytes)) {
      if (!skip_value(tag, in)) return false;
      continue;
    }
    std::uint64_t length = 0;
    if (!found.whole.empty() || !in.ReadVarint64(&length) || length > bytes.size()) return false;
    const int value = in.CurrentPosition();
    if (!in.Skip(static_cast<int>(length))) return false;
    found.value = bytes.subspan(value, length);
    found.whole = bytes.subspan(begin, in.CurrentPosition() - begin);
  }
}

std::uint64_t find_id(std::span<const std::byte> frame) {
  CodedInputStream in(reinterpret_cast<const std::uint8_t*>(frame.data()), static_cast<int>(frame.size()));
  std::uint64_t id = 0;
  while (const std::uint32_t tag = in.ReadTag()) {
    const bool is_id = tag == (client::Request::kIdFieldNumber << 3 | kVarint);
    if (is_id ? !in.ReadVarint64(&id) : !skip_value(tag, in)) break;
  }
  return id;
}

bool merge(std::span<const std::byte> bytes, google::protobuf::MessageLite& message) {
  CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
  return message.MergeFromCodedStream(&in) && in.ConsumedEntireMessage();
}

// What a run of bytes has beside a field; without one, all of it is before.
struct Around {
  std::span<const std::byte> before, after;
};

Around around(const Field& field, std::span<const std::byte> bytes) {
  const std::size_t before = field.whole.empty() ? bytes.size() : field.whole.data() - bytes.data();
  return {bytes.first(before), bytes.subspan(before + field.whole.size())};
}

// Parses `body` except its payload field into `message`; what memory the message has is used again.
template <class Message>
bool parse_body(std::span<const std::byte> body, Message& message, std::span<const std::byte>& payload) {
  Field found;
  message.Clear();
  if (!find_bytes_field(body, Message::kPayloadFieldNumber, found)) return false;
  payload = found.value;
  const Around rest = around(found, body);
  return merge(rest.before, message) && merge(rest.after, message);
}

template <class Message>
void put_body(int field, const Message& body, std::uint64_t payload_bytes, std::string& out) {
  const std::uint64_t tag_bytes = 1;  // payload fields have numbers below 16
  put_bytes_head(field, body.ByteSizeLong() + tag_bytes + varint_bytes(payload_bytes) + payload_bytes, out);
  body.AppendToString(&out);
  put_bytes_head(Message::kPayloadFieldNumber, payload_bytes, out);
}

void put_body(const client::Request& request, std::uint64_t payload_bytes, std::string& out) {
  if (request.has_operate())
    put_body(client::Request::kOperateFieldNumber, request.operate(), payload_bytes, out);
  else
    put_body(client::Request::kSendFieldNumber, request.send(), payload_bytes, out);
}

void put_body(const client::Response& response, std::uint64_t payload_bytes, std::string& out) {
  put_bytes_head(client::Response::kStatusFieldNumber, response.status().ByteSizeLong(), out);
  response.status().AppendToString(&out);
  if (response.has_outcome())
    put_body(client::Response::kOutcomeFieldNumber, response.outcome(), payload_bytes, out);
  else
    put_body(client::Response::kMessageFieldNumber, response.message(), payload_bytes, out);
}

template <class Message>
void append_head(const Message& message, std::uint64_t payload_bytes, std::string& out) {
  if (payload_bytes == 0) return append_frame(message, out);
  const std::size_t at = out.size();
  out.append(kFrameLengthBytes, '\0');
  put_varint(Message::kIdFieldNumber << 3 | kVarint, out);
  put_varint(message.id(), out);
  put_body(message, payload_bytes, out);
  put_length(at, out.size() - at - kFrameLengthBytes + payload_bytes, out);
}

}  // namespace

std::uint32_t read_frame_length(std::span<const std::byte> bytes) {
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < kFrameLengthBytes; ++i) length |= std::to_integer<std::uint32_t>(bytes[i]) << (8 * i);
  return length;
}

bool frame_length_allowed(std::uint64_t length, std::uint64_t payload_limit) {
  const std::uint64_t largest = std::numeric_limits<int>::max();  // Protocol Buffers stop there
  return length > 0 && length <= largest && length <= payload_limit + kFrameSlack;
}

void append_frame(const google::protobuf::MessageLite& message, std::string& out) {
  const std::size_t at = out.size();
  out.append(kFrameLengthBytes, '\0');
  message.AppendToString(&out);
  put_length(at, out.size() - at - kFrameLengthBytes, out);
}

void append_frame_head(const client::Request& request, std::uint64_t payload_bytes, std::string& out) {
  append_head(request, payload_bytes, out);
}

void append_frame_head(const client::Response& response, std::uint64_t payload_bytes, std::string& out) {
  append_head(response, payload_bytes, out);
}

bool parse_request(std::span<const std::byte> frame, client::Request& request, std::span<const std::byte>& payload) {
  payload = {};
  request.set_id(find_id(frame));
  Field operate, send;
  if (!find_bytes_field(frame, client::Request::kOperateFieldNumber, operate)) return false;
  if (!find_bytes_field(frame, client::Request::kSendFieldNumber, send)) return false;
  if (!operate.whole.empty()) return parse_body(operate.value, *request.mutable_operate(), payload);
  if (!send.whole.empty()) return parse_body(send.value, *request.mutable_send(), payload);
  return request.ParseFromArray(frame.data(), static_cast<int>(frame.size()));
}

bool parse_response(std::span<const std::byte> frame, client::Response& response, std::span<const std::byte>& payload) {
  payload = {};
  Field outcome, message;
  if (!find_bytes_field(frame, client::Response::kOutcomeFieldNumber, outcome)) return false;
  if (!find_bytes_field(frame, client::Response::kMessageFieldNumber, message)) return false;
  const Field& body = outcome.whole.empty() ? message : outcome;
  if (body.whole.empty()) return response.ParseFromArray(frame.data(), static_cast<int>(frame.size()));
  response.set_id(0);
  response.mutable_status()->Clear();
  const Around rest = around(body, frame);
  if (!merge(rest.before, response) || !merge(rest.after, response)) return false;
  return outcome.whole.empty() ? parse_body(message.value, *response.mutable_message(), payload)
                               : parse_body(outcome.value, *response.mutable_outcome(), payload);
}

}  // namespace fibocast

// Frames of the local socket: a length of four bytes, little-endian, then one message of client.proto. Payloads
// are large, so they never pass through a protobuf string: who receives a frame finds the payload where it lies in
// there, and who sends one writes the payload right after the head made here.
//
// Steady state without heap: messages and strings given in are reused, their memory stays. Any thread, no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/wire/client.pb.h"

namespace fibocast {

inline constexpr std::uint32_t kClientMajor = 1;  // version of client.proto: other majors are refused
inline constexpr std::uint32_t kClientMinor = 0;
inline constexpr std::size_t kFrameLengthBytes = 4;
inline constexpr std::uint64_t kFrameSlack = 64 << 10;  // bytes that a frame may have beside its payload

// The length in front of a frame. Precondition: bytes.size() >= kFrameLengthBytes.
std::uint32_t read_frame_length(std::span<const std::byte> bytes);

// May a frame be so long, where payloads have at most `payload_limit` bytes? An empty frame is no message.
bool frame_length_allowed(std::uint64_t length, std::uint64_t payload_limit);

// Appends length and message to `out`. Precondition: the message has less than 4 GiB.
void append_frame(const google::protobuf::MessageLite& message, std::string& out);

// Appends to `out` the length and all of the message up to its payload; `payload_bytes` bytes of payload must follow on
// the socket. Precondition: the message has a body with a payload, which is empty, and together less than 4 GiB. With
// payload_bytes 0 it is append_frame().
void append_frame_head(const client::Request& request, std::uint64_t payload_bytes, std::string& out);
void append_frame_head(const client::Response& response, std::uint64_t payload_bytes, std::string& out);

// Reads a message whose frame (without the length) is `frame`. The payload of Operate, Send, Outcome and Message is not
// copied: `payload` points into `frame` and the message's own field stays empty. False: not such a message; then it may
// hold a part of it (a request its id, if that was readable, else 0).
bool parse_request(std::span<const std::byte> frame, client::Request& request, std::span<const std::byte>& payload);
bool parse_response(std::span<const std::byte> frame, client::Response& response, std::span<const std::byte>& payload);

}  // namespace fibocast

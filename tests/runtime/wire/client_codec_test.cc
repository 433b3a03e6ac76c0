#include "runtime/wire/client_codec.h"

#include <gtest/gtest.h>

#include <random>

namespace fibocast {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

client::Request some_send() {
  client::Request request;
  request.set_id(300);
  request.mutable_send()->set_rank(2);
  request.mutable_send()->set_tag(77);
  request.mutable_send()->set_payload(std::string(5000, 'x'));
  request.mutable_send()->set_deadline_ns(9);  // a field after the payload
  return request;
}

TEST(ClientCodec, LengthIsLittleEndian) {
  std::string out;
  append_frame(some_send(), out);
  EXPECT_EQ(read_frame_length(bytes_of(out)), out.size() - kFrameLengthBytes);
  EXPECT_EQ(static_cast<unsigned char>(out[0]), (out.size() - kFrameLengthBytes) & 0xff);
}

TEST(ClientCodec, LengthsAreBounded) {
  EXPECT_FALSE(frame_length_allowed(0, 1000));
  EXPECT_TRUE(frame_length_allowed(1000 + kFrameSlack, 1000));
  EXPECT_FALSE(frame_length_allowed(1001 + kFrameSlack, 1000));
  EXPECT_FALSE(frame_length_allowed(0xffff'ffff, 1ull << 40));
}

TEST(ClientCodec, ThePayloadOfARequestIsNotCopied) {
  const std::string frame = some_send().SerializeAsString();
  client::Request request;
  std::span<const std::byte> payload;
  ASSERT_TRUE(parse_request(bytes_of(frame), request, payload));
  EXPECT_EQ(text_of(payload), std::string(5000, 'x'));
  EXPECT_GE(reinterpret_cast<const char*>(payload.data()), frame.data());
  EXPECT_LE(reinterpret_cast<const char*>(payload.data()) + payload.size(), frame.data() + frame.size());
  EXPECT_EQ(request.send().payload(), "");
  request.mutable_send()->set_payload(text_of(payload));
  EXPECT_EQ(request.SerializeAsString(), frame);
}

client::Response some_outcome() {
  client::Response response;
  response.set_id(300);
  response.mutable_status()->set_sentence("late");
  response.mutable_outcome()->set_generation(9);
  response.mutable_outcome()->set_payload(std::string(5000, 'x'));
  response.mutable_outcome()->set_lateness_ns(7);
  return response;
}

client::Response some_message() {
  client::Response response;
  response.set_id(301);
  response.mutable_status();  // daemons give all a status
  response.mutable_message()->set_rank(3);
  response.mutable_message()->set_payload("hello");
  return response;
}

// One object reads them all: nothing of one is left in the next.
TEST(ClientCodec, ThePayloadOfAResponseIsNotCopied) {
  client::Response other;
  other.mutable_group()->set_name("pair");
  client::Response response;
  std::span<const std::byte> payload;
  for (const client::Response& wanted : {some_outcome(), some_message(), other, some_message(), some_outcome()}) {
    const std::string frame = wanted.SerializeAsString();
    ASSERT_TRUE(parse_response(bytes_of(frame), response, payload));
    EXPECT_EQ(response.outcome().payload() + response.message().payload(), "");
    EXPECT_EQ(payload.empty(), wanted.has_group());
    if (!payload.empty()) {
      EXPECT_GE(reinterpret_cast<const char*>(payload.data()), frame.data());
      EXPECT_LE(reinterpret_cast<const char*>(payload.data()) + payload.size(), frame.data() + frame.size());
    }
    client::Response whole = response;
    if (wanted.has_outcome()) whole.mutable_outcome()->set_payload(text_of(payload));
    if (wanted.has_message()) whole.mutable_message()->set_payload(text_of(payload));
    EXPECT_EQ(whole.SerializeAsString(), frame);
  }
}

TEST(ClientCodec, AReusedRequestForgetsWhatItHeld) {
  client::Request request;
  std::span<const std::byte> payload;
  client::Request first;
  first.mutable_operate()->set_group("gate");
  first.mutable_operate()->set_label("early");
  first.mutable_operate()->set_payload("data");
  ASSERT_TRUE(parse_request(bytes_of(first.SerializeAsString()), request, payload));
  client::Request second;
  second.set_id(2);
  second.mutable_operate()->set_group("gate");
  const std::string frame = second.SerializeAsString();
  ASSERT_TRUE(parse_request(bytes_of(frame), request, payload));
  EXPECT_TRUE(payload.empty());
  EXPECT_EQ(request.SerializeAsString(), frame);
}

TEST(ClientCodec, OtherRequestsAreParsedWhole) {
  client::Request wanted;
  wanted.set_id(5);
  wanted.mutable_create_group()->set_name("pair");
  wanted.mutable_create_group()->add_ranks(3);
  client::Request request;
  std::span<const std::byte> payload;
  ASSERT_TRUE(parse_request(bytes_of(wanted.SerializeAsString()), request, payload));
  EXPECT_EQ(request.SerializeAsString(), wanted.SerializeAsString());
}

TEST(ClientCodec, AnUnknownFieldIsPassedOver) {
  std::string frame = some_send().SerializeAsString();
  frame += std::string("\xa2\x06\x03\x61\x62\x63", 6);  // field 100, three bytes
  client::Request request;
  std::span<const std::byte> payload;
  ASSERT_TRUE(parse_request(bytes_of(frame), request, payload));
  EXPECT_EQ(payload.size(), 5000u);
}

TEST(ClientCodec, EveryTruncationIsHandled) {
  const std::string frame = some_send().SerializeAsString();
  for (std::size_t length = 0; length < frame.size(); ++length) {
    client::Request request;
    std::span<const std::byte> payload;
    const std::string part = frame.substr(0, length);
    const bool parsed = parse_request(bytes_of(part), request, payload);
    EXPECT_TRUE(!parsed || request.body_case() == client::Request::BODY_NOT_SET) << length;
  }
}

TEST(ClientCodec, EveryTruncationOfAResponseIsHandled) {
  const std::string frame = some_outcome().SerializeAsString();
  for (std::size_t length = 0; length < frame.size(); ++length) {
    client::Response response;
    std::span<const std::byte> payload;
    const std::string part = frame.substr(0, length);
    const bool parsed = parse_response(bytes_of(part), response, payload);
    EXPECT_TRUE(!parsed || response.body_case() == client::Response::BODY_NOT_SET) << length;
  }
}

TEST(ClientCodec, RandomBytesDoNoHarm) {
  std::mt19937 random(1);
  client::Request request;
  client::Response response;
  const std::string send = some_send().SerializeAsString(), outcome = some_outcome().SerializeAsString();
  for (int i = 0; i < 20'000; ++i) {
    std::string frame = i % 3 == 2 ? std::string(40, '\0') : (i % 3 ? send : outcome).substr(0, 40);
    for (int k = 0; k < 4; ++k) frame[random() % frame.size()] = static_cast<char>(random());
    std::span<const std::byte> payload;
    parse_request(bytes_of(frame), request, payload);
    EXPECT_LE(payload.size(), frame.size());
    parse_response(bytes_of(frame), response, payload);
    EXPECT_LE(payload.size(), frame.size());
  }
}

TEST(ClientCodec, HeadAndPayloadTogetherAreTheRequest) {
  client::Request operate;
  operate.set_id(1ull << 40);
  operate.mutable_operate()->set_group("all");
  operate.mutable_operate()->set_root(2);
  for (client::Request request : {some_send(), operate}) {
    const std::string payload(70'000, 'p');
    if (request.has_send()) request.mutable_send()->clear_payload();
    std::string frame;
    append_frame_head(request, payload.size(), frame);
    frame += payload;
    ASSERT_EQ(read_frame_length(bytes_of(frame)), frame.size() - kFrameLengthBytes);
    client::Request read;
    ASSERT_TRUE(read.ParseFromString(frame.substr(kFrameLengthBytes)));
    if (request.has_send()) request.mutable_send()->set_payload(payload);
    if (request.has_operate()) request.mutable_operate()->set_payload(payload);
    EXPECT_EQ(read.SerializeAsString(), request.SerializeAsString());
  }
}

TEST(ClientCodec, HeadAndPayloadTogetherAreTheResponse) {
  for (const std::size_t size : {1u, 127u, 128u, 70'000u}) {
    client::Response response;
    response.set_id(1ull << 40);
    response.mutable_status()->set_code(client::CODE_OK);
    response.mutable_outcome()->set_generation(6);
    response.mutable_outcome()->set_lateness_ns(1);
    const std::string payload(size, 'p');
    std::string frame;
    append_frame_head(response, size, frame);
    frame += payload;
    ASSERT_EQ(read_frame_length(bytes_of(frame)), frame.size() - kFrameLengthBytes);
    client::Response read;
    ASSERT_TRUE(read.ParseFromString(frame.substr(kFrameLengthBytes)));
    response.mutable_outcome()->set_payload(payload);
    EXPECT_EQ(read.SerializeAsString(), response.SerializeAsString());
  }
}

TEST(ClientCodec, AMessageCarriesItsPayloadToo) {
  client::Response response;
  response.mutable_message()->set_rank(3);
  std::string frame;
  append_frame_head(response, 5, frame);
  frame += "hello";
  client::Response read;
  ASSERT_TRUE(read.ParseFromString(frame.substr(kFrameLengthBytes)));
  EXPECT_EQ(read.message().payload(), "hello");
  EXPECT_EQ(read.message().rank(), 3u);
}

}  // namespace
}  // namespace fibocast

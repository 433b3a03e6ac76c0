// Requests of local clients, as tests send them.
#pragma once

#include <string>

#include "collectives/types.h"
#include "runtime/wire/client.pb.h"

namespace fibocast {

inline client::Request message_to(NodeId rank, std::uint64_t tag, const std::string& payload) {
  client::Request request;
  request.mutable_send()->set_rank(rank);
  request.mutable_send()->set_tag(tag);
  request.mutable_send()->set_payload(payload);
  return request;
}

inline client::Request receive_of(std::uint64_t tag, std::int64_t deadline_ms = 20'000) {
  client::Request request;
  request.mutable_receive()->set_tag(tag);
  request.mutable_receive()->set_deadline_ns(deadline_ms * 1'000'000);
  return request;
}

inline client::Request barrier_of(const std::string& group) {
  client::Request request;
  request.mutable_operate()->set_group(group);
  request.mutable_operate()->set_kind(client::OPERATION_BARRIER);
  request.mutable_operate()->set_deadline_ns(20'000'000'000);
  return request;
}

inline client::Request multicast_of(const std::string& group, Rank root, const std::string& payload,
                                    std::int64_t deadline_ms = 20'000) {
  client::Request request;
  request.mutable_operate()->set_group(group);
  request.mutable_operate()->set_kind(client::OPERATION_MULTICAST);
  request.mutable_operate()->set_root(root);
  request.mutable_operate()->set_deadline_ns(deadline_ms * 1'000'000);
  request.mutable_operate()->set_payload(payload);
  return request;
}

}  // namespace fibocast

// Between the library's plain values and the messages of the local protocol (runtime/wire/client.proto). Internal.
#pragma once

#include "runtime/client/node_trace.h"
#include "runtime/client/participant.h"
#include "runtime/wire/client.pb.h"

namespace fibocast {

// Fill `request` (its body; not its id, nor its payload, which is sent from where it lies), reusing the memory it has.
void encode(const OperationCall& call, client::Operate& out);
void encode(const SendCall& call, client::Send& out);
void encode(const GroupRequest& request, client::CreateGroup& out);
void encode(const GroupRequest& request, client::PlanGroup& out);
void encode(const NodeModel& model, client::SetModel& out);

NodeModel decode_model(const client::SetModel& model);
// Each takes the whole response, because its status belongs to the value; what can have a payload takes it beside
// (client_codec.h). A payload as long as `into` is put there.
Status decode_status(const client::Response& response);
Outcome decode_outcome(const client::Response& response, std::span<const std::byte> payload,
                       std::span<std::byte> into = {});
Received decode_received(const client::Response& response, std::span<const std::byte> payload);
Result<GroupInfo> decode_group(const client::Response& response);
Result<NodeInfo> decode_node_info(const client::Response& response);
// How many events of `part` were appended.
std::uint64_t append_trace(const client::Trace& part, NodeTrace& trace);

}  // namespace fibocast

// The C functions of fibocast.h: each one is a call of Participant or Group, with its failure kept for the thread.
// Nothing is thrown across the interface.
#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "runtime/client/c_api_options.h"
#include "runtime/client/client.h"
#include "runtime/client/embedded_node.h"
#include "runtime/client/fibocast.h"
#include "runtime/client/received_by_thread.h"

struct fibocast_participant {
  std::shared_ptr<fibocast::Participant> participant;
  fibocast::ReceivedByThread received;
};

struct fibocast_group {
  fibocast::Group group;
  std::vector<std::byte> result;
};

namespace fibocast {
namespace {

using c_api::has_size, c_api::Options, c_api::read;

// The numbers of fibocast.h are those of the C++ library: the last of each list has the same place in both.
static_assert(FIBOCAST_PARTITIONED == static_cast<int>(Code::kPartitioned));
static_assert(FIBOCAST_DOUBLE == static_cast<int>(ElementType::kDouble));
static_assert(FIBOCAST_XOR == static_cast<int>(CombineOperator::kXor));

thread_local Status last_failure;

fibocast_code end_with(Status status) {
  const auto code = static_cast<fibocast_code>(status.code);
  if (!status.ok()) last_failure = std::move(status);
  return code;
}

fibocast_code end_invalid(const char* sentence) { return end_with(invalid(sentence)); }

// Runs the body of a function that can fail.
template <class Body>
fibocast_code guarded(Body body) {
  try {
    return body();
  } catch (const std::exception& error) {
    return end_with({Code::kFailed, error.what(), {}});
  } catch (...) {
    return end_with({Code::kFailed, "an exception of unknown kind", {}});
  }
}

std::span<const std::byte> bytes_of(const void* data, std::size_t size) {
  return {static_cast<const std::byte*>(data), data == nullptr ? 0 : size};
}

fibocast_bytes view(const std::vector<std::byte>& bytes) {
  return {bytes.empty() ? nullptr : bytes.data(), bytes.size()};
}

constexpr const char* kNoHandle = "a handle, or the place for a result, is NULL";
constexpr const char* kNoSize = "struct_size of the options is not set: it is sizeof of the struct";
constexpr const char* kNoBytes = "the bytes are NULL, but their size is not 0";

// One operation: `call` takes (Group&, Options&) and returns its Outcome, which is kept in the group.
template <class Call>
fibocast_code operate(fibocast_group* group, const fibocast_options* options, const void* data, std::size_t size,
                      fibocast_bytes* result, Call call) {
  return guarded([&] {
    if (result != nullptr) *result = {nullptr, 0};
    if (group == nullptr) return end_invalid(kNoHandle);
    if (!has_size(options)) return end_invalid(kNoSize);
    if (data == nullptr && size != 0) return end_invalid(kNoBytes);
    const Options read_options = read(options);
    Outcome outcome = call(group->group, read_options);
    group->result = std::move(outcome.payload);
    if (result != nullptr) *result = view(group->result);
    return end_with(std::move(outcome.status));
  });
}

Combination combination_of(fibocast_type type, fibocast_operator op) {
  return {static_cast<ElementType>(type), static_cast<CombineOperator>(op)};
}

bool is_type(fibocast_type type) { return type >= FIBOCAST_BYTES && type <= FIBOCAST_DOUBLE; }

bool is_operator(fibocast_operator op) { return op >= FIBOCAST_NONE && op <= FIBOCAST_XOR; }

Outcome no_such_combination() {
  Outcome outcome;
  outcome.status = invalid("there is no such element type, no such operator, or no room for so many elements");
  return outcome;
}

// Elements, as operate() for bytes.
template <class Call>
fibocast_code combine(fibocast_group* group, const fibocast_options* options, const void* vector, std::size_t count,
                      fibocast_type type, fibocast_operator op, fibocast_bytes* result, Call call) {
  return operate(group, options, vector, count, result, [&](Group& g, const Options& o) {
    if (!is_type(type) || !is_operator(op) || count > SIZE_MAX / 8) return no_such_combination();
    const Combination combination = combination_of(type, op);
    return call(g, o, bytes_of(vector, count * element_bytes(combination.type)), combination);
  });
}

Combine combine_with(fibocast_combine combine, void* context) {
  return [combine, context](std::span<std::byte> left, std::span<const std::byte> right) {
    combine(left.data(), right.data(), left.size(), context);
  };
}

template <class T>
fibocast_code give(Result<std::shared_ptr<T>> made, fibocast_participant** to) {
  if (!made.ok()) return end_with(made.status());
  *to = new fibocast_participant{.participant = std::move(*made), .received = {}};
  return FIBOCAST_OK;
}

fibocast_code create_group(fibocast_participant* participant, const char* name, std::span<const uint32_t> nodes,
                           const char* policy, bool if_missing) {
  return guarded([&] {
    if (participant == nullptr || name == nullptr || nodes.data() == nullptr) return end_invalid(kNoHandle);
    GroupRequest request;
    request.name = name;
    request.nodes.assign(nodes.begin(), nodes.end());
    request.if_missing = if_missing;
    if (policy != nullptr) request.policy = policy;
    return end_with(participant->participant->create_group(request));
  });
}

fibocast_code send(fibocast_participant* participant, const SendCall& call, const void* data, std::size_t size) {
  return guarded([&] {
    if (participant == nullptr) return end_invalid(kNoHandle);
    if (data == nullptr && size != 0) return end_invalid(kNoBytes);
    Participant& p = *participant->participant;
    return end_with(call.try_only ? p.try_send(call.to, call.tag, bytes_of(data, size))
                                  : p.send(call.to, call.tag, bytes_of(data, size), call.deadline));
  });
}

}  // namespace
}  // namespace fibocast

using namespace fibocast;  // NOLINT: what follows is the C interface, all of it

extern "C" {

const char* fibocast_code_name(fibocast_code code) { return code_name(static_cast<Code>(code)).data(); }

int fibocast_exit_code(fibocast_code code) { return Status{static_cast<Code>(code), {}, {}}.exit_code(); }

const char* fibocast_last_sentence(void) { return last_failure.sentence.c_str(); }

size_t fibocast_last_ranks(uint32_t* ranks, size_t room) {
  const std::vector<Rank>& all = last_failure.ranks;
  if (ranks != nullptr) std::copy_n(all.begin(), std::min(room, all.size()), ranks);
  return all.size();
}

const char* fibocast_version(void) { return FIBOCAST_VERSION; }

fibocast_code fibocast_connect(const char* socket_path, fibocast_participant** participant) {
  return guarded([&] {
    if (participant == nullptr) return end_invalid(kNoHandle);
    *participant = nullptr;
    return give(Client::connect(std::string(socket_path == nullptr ? "" : socket_path)), participant);
  });
}

fibocast_code fibocast_start_node(const fibocast_node_options* options, fibocast_participant** participant) {
  return guarded([&] {
    if (participant == nullptr || options == nullptr) return end_invalid(kNoHandle);
    *participant = nullptr;
    if (!has_size(options)) return end_invalid(kNoSize);
    if (options->nodes == nullptr) return end_invalid("the options name no nodes");
    return give(EmbeddedNode::start(read(*options)), participant);
  });
}

void fibocast_close(fibocast_participant* participant) { delete participant; }

uint32_t fibocast_node_rank(const fibocast_participant* participant) {
  return participant == nullptr ? kNoNode : participant->participant->rank();
}

uint32_t fibocast_node_count(const fibocast_participant* participant) {
  return participant == nullptr ? 0 : participant->participant->size();
}

fibocast_code fibocast_open(fibocast_participant* participant, const char* name, fibocast_group** group) {
  return guarded([&] {
    if (group == nullptr || participant == nullptr || name == nullptr) return end_invalid(kNoHandle);
    *group = nullptr;
    auto opened = participant->participant->open(name);
    if (!opened.ok()) return end_with(opened.status());
    *group = new fibocast_group{std::move(*opened), {}};
    return FIBOCAST_OK;
  });
}

fibocast_code fibocast_open_direct(fibocast_participant* participant, const char* name,
                                   const fibocast_direct_options* options, fibocast_group** group) {
  return guarded([&] {
    if (group == nullptr || participant == nullptr || name == nullptr) return end_invalid(kNoHandle);
    *group = nullptr;
    if (!has_size(options)) return end_invalid(kNoSize);
    auto* client = dynamic_cast<Client*>(participant->participant.get());
    if (client == nullptr)
      return end_invalid("this participant is a node already; open the group with fibocast_open()");
    auto opened = client->open_direct(name, read(options));
    if (!opened.ok()) return end_with(opened.status());
    *group = new fibocast_group{std::move(*opened), {}};
    return FIBOCAST_OK;
  });
}

void fibocast_leave(fibocast_group* group) { delete group; }

uint32_t fibocast_rank(const fibocast_group* group) { return group == nullptr ? kNoRank : group->group.rank(); }

uint32_t fibocast_size(const fibocast_group* group) { return group == nullptr ? 0 : group->group.size(); }

fibocast_code fibocast_create_group(fibocast_participant* participant, const char* name, const uint32_t* nodes,
                                    size_t node_count, const char* policy) {
  return create_group(participant, name, {nodes, node_count}, policy, false);
}

fibocast_code fibocast_create_group_if_missing(fibocast_participant* participant, const char* name,
                                               const uint32_t* nodes, size_t node_count, const char* policy) {
  return create_group(participant, name, {nodes, node_count}, policy, true);
}

fibocast_code fibocast_remove_group(fibocast_participant* participant, const char* name) {
  return guarded([&] {
    if (participant == nullptr || name == nullptr) return end_invalid(kNoHandle);
    return end_with(participant->participant->remove_group(name));
  });
}

fibocast_code fibocast_barrier(fibocast_group* group, const fibocast_options* options, fibocast_straggler* straggler) {
  Straggler last;
  const fibocast_code code = operate(group, options, nullptr, 0, nullptr, [&](Group& g, const Options& o) {
    Outcome outcome = g.barrier(o.deadline, o.plain);
    last = outcome.straggler;
    return outcome;
  });
  if (straggler != nullptr) *straggler = {last.rank, last.late_by};
  return code;
}

fibocast_code fibocast_multicast(fibocast_group* group, uint32_t root, const void* data, size_t size,
                                 const fibocast_options* options, fibocast_bytes* result) {
  return operate(group, options, data, size, result, [&](Group& g, const Options& o) {
    return g.multicast(root, bytes_of(data, size), o.deadline, o.plain);
  });
}

fibocast_code fibocast_reduce(fibocast_group* group, uint32_t root, const void* vector, size_t count,
                              fibocast_type type, fibocast_operator op, const fibocast_options* options,
                              fibocast_bytes* result) {
  return combine(group, options, vector, count, type, op, result,
                 [&](Group& g, const Options& o, std::span<const std::byte> bytes, const Combination& c) {
                   return g.reduce(root, bytes, c, o.deadline, o.plain);
                 });
}

fibocast_code fibocast_allreduce(fibocast_group* group, const void* vector, size_t count, fibocast_type type,
                                 fibocast_operator op, const fibocast_options* options, fibocast_bytes* result) {
  return combine(group, options, vector, count, type, op, result,
                 [&](Group& g, const Options& o, std::span<const std::byte> bytes, const Combination& c) {
                   return g.allreduce(bytes, c, o.deadline, o.plain);
                 });
}

fibocast_code fibocast_reduce_with(fibocast_group* group, uint32_t root, const void* vector, size_t size,
                                   fibocast_combine combine, void* context, const fibocast_options* options,
                                   fibocast_bytes* result) {
  if (combine == nullptr) return end_invalid(kNoHandle);
  return operate(group, options, vector, size, result, [&](Group& g, const Options& o) {
    return g.reduce_with(root, bytes_of(vector, size), combine_with(combine, context), o.deadline, o.plain);
  });
}

fibocast_code fibocast_allreduce_with(fibocast_group* group, const void* vector, size_t size, fibocast_combine combine,
                                      void* context, const fibocast_options* options, fibocast_bytes* result) {
  if (combine == nullptr) return end_invalid(kNoHandle);
  return operate(group, options, vector, size, result, [&](Group& g, const Options& o) {
    return g.allreduce_with(bytes_of(vector, size), combine_with(combine, context), o.deadline, o.plain);
  });
}

fibocast_code fibocast_scatter(fibocast_group* group, uint32_t root, const void* blocks, size_t size,
                               const fibocast_options* options, fibocast_bytes* result) {
  return operate(group, options, blocks, size, result, [&](Group& g, const Options& o) {
    return g.scatter(root, bytes_of(blocks, size), o.deadline, o.plain);
  });
}

fibocast_code fibocast_gather(fibocast_group* group, uint32_t root, const void* block, size_t size,
                              const fibocast_options* options, fibocast_bytes* result) {
  return operate(group, options, block, size, result, [&](Group& g, const Options& o) {
    return g.gather(root, bytes_of(block, size), o.deadline, o.plain);
  });
}

fibocast_code fibocast_allgather(fibocast_group* group, const void* block, size_t size, const fibocast_options* options,
                                 fibocast_bytes* result) {
  return operate(group, options, block, size, result,
                 [&](Group& g, const Options& o) { return g.allgather(bytes_of(block, size), o.deadline, o.plain); });
}

fibocast_code fibocast_alltoall(fibocast_group* group, const void* blocks, size_t size, const fibocast_options* options,
                                fibocast_bytes* result) {
  return operate(group, options, blocks, size, result,
                 [&](Group& g, const Options& o) { return g.alltoall(bytes_of(blocks, size), o.deadline, o.plain); });
}

fibocast_code fibocast_divide(fibocast_group* group, uint32_t root, const void* vector, size_t count,
                              fibocast_type type, const fibocast_options* options, fibocast_bytes* result) {
  return combine(group, options, vector, count, type, FIBOCAST_NONE, result,
                 [&](Group& g, const Options& o, std::span<const std::byte> bytes, const Combination& c) {
                   return g.divide(root, bytes, c.type, o.deadline, o.plain);
                 });
}

fibocast_code fibocast_conquer(fibocast_group* group, uint32_t root, uint64_t total, const void* share, size_t count,
                               fibocast_type type, fibocast_operator op, const fibocast_options* options,
                               fibocast_bytes* result) {
  return combine(group, options, share, count, type, op, result,
                 [&](Group& g, const Options& o, std::span<const std::byte> bytes, const Combination& c) {
                   return g.conquer(root, total, bytes, c, o.deadline, o.plain);
                 });
}

fibocast_code fibocast_share(fibocast_group* group, uint32_t root, uint64_t total, const fibocast_options* options,
                             uint64_t* first, uint64_t* count) {
  return guarded([&] {
    if (group == nullptr || first == nullptr || count == nullptr) return end_invalid(kNoHandle);
    if (!has_size(options)) return end_invalid(kNoSize);
    auto share = group->group.share(root, total, read(options).plain);
    if (!share.ok()) return end_with(share.status());
    *first = share->first;
    *count = share->count;
    return FIBOCAST_OK;
  });
}

fibocast_code fibocast_send(fibocast_participant* participant, uint32_t node, uint64_t tag, const void* data,
                            size_t size, int64_t deadline_ns) {
  return send(participant, {node, tag, {}, Duration(deadline_ns), false}, data, size);
}

fibocast_code fibocast_try_send(fibocast_participant* participant, uint32_t node, uint64_t tag, const void* data,
                                size_t size) {
  return send(participant, {node, tag, {}, {}, true}, data, size);
}

fibocast_code fibocast_receive(fibocast_participant* participant, uint64_t tag, int64_t deadline_ns, uint32_t* from,
                               fibocast_bytes* result) {
  return guarded([&] {
    if (participant == nullptr || result == nullptr) return end_invalid(kNoHandle);
    *result = {nullptr, 0};
    Received received = participant->participant->receive(tag, Duration(deadline_ns));
    *result = view(participant->received.keep(std::move(received.bytes)));
    if (from != nullptr) *from = received.from;
    return end_with(std::move(received.status));
  });
}

}  // extern "C"

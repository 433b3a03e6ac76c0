// What the structs of options of fibocast.h say, in the words of the library. Only for c_api.cc.
#pragma once

#include "runtime/client/client.h"
#include "runtime/client/embedded_node.h"
#include "runtime/client/fibocast.h"

namespace fibocast::c_api {

struct Options {
  Duration deadline{0};
  OperationOptions plain;
};

inline Options read(const fibocast_options* options) {
  Options out;
  if (options == nullptr) return out;
  out.deadline = Duration(options->deadline_ns);
  if (options->algorithm != nullptr) out.plain.algorithm = options->algorithm;
  if (options->label != nullptr) out.plain.label = options->label;
  return out;
}

// A struct of a program that was built with an older header is shorter; one of none at all has forgotten its size.
template <class Struct>
bool has_size(const Struct* given) {
  return given == nullptr || given->struct_size >= sizeof(Struct);
}

inline EmbeddedNode::Options read(const fibocast_node_options& options) {
  EmbeddedNode::Options out;
  out.rank = options.rank;
  out.nodes.assign(options.nodes, options.nodes + options.node_count);
  if (options.cluster != nullptr) out.cluster = options.cluster;
  if (options.key_file != nullptr) out.key_file = options.key_file;
  out.insecure = options.insecure != 0;
  out.tcp = options.tcp != 0;
  return out;
}

inline Client::DirectOptions read(const fibocast_direct_options* options) {
  if (options == nullptr) return {};
  Client::DirectOptions out{.deadline = Duration(options->deadline_ns)};
  if (options->host != nullptr) out.host = options->host;
  if (options->local != nullptr) out.local = options->local;
  return out;
}

}  // namespace fibocast::c_api

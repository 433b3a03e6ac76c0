#include "runtime/cli/cluster_record.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace fibocast {
namespace {

using Json = nlohmann::ordered_json;

std::string record_path(const std::string& dir) { return dir + "/cluster.json"; }

Json to_json(const ClusterRecord& record) {
  Json nodes = Json::array();
  for (const LocalNode& node : record.nodes)
    nodes.push_back({{"rank", node.rank}, {"pid", node.pid}, {"address", node.address}, {"socket", node.socket}});
  return {{"transport", record.transport}, {"machine", record.machine}, {"scale", record.scale}, {"nodes", nodes}};
}

ClusterRecord from_json(const Json& json) {
  ClusterRecord record{json.at("transport"), json.at("machine"), json.at("scale"), {}};
  for (const Json& node : json.at("nodes"))
    record.nodes.push_back({node.at("rank"), node.at("pid"), node.at("address"), node.at("socket")});
  return record;
}

}  // namespace

std::string default_cluster_dir() {
  const char* runtime_dir = std::getenv("XDG_RUNTIME_DIR");
  if (runtime_dir && *runtime_dir) return std::string(runtime_dir) + "/fibocast";
  return "/tmp/fibocast-" + std::to_string(getuid());
}

std::string canonical_dir(const std::string& dir) {
  std::error_code error;
  const auto path = std::filesystem::weakly_canonical(std::filesystem::absolute(dir, error), error);
  if (error) return dir;  // whoever uses it says why it cannot be used
  return path.has_filename() ? path.string() : path.parent_path().string();  // "cluster/" is "cluster"
}

std::string node_path(const std::string& dir, NodeId rank, const std::string& extension) {
  return dir + "/node-" + std::to_string(rank) + "." + extension;
}

std::optional<ClusterRecord> read_cluster_record(const std::string& dir) {
  std::ifstream file(record_path(dir));
  if (!file) return std::nullopt;
  try {
    return from_json(Json::parse(file));
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

bool write_cluster_record(const std::string& dir, const ClusterRecord& record) {
  const std::string fresh = record_path(dir) + ".new";
  std::ofstream file(fresh);
  file << to_json(record).dump(2) << '\n';
  file.close();
  return file && std::rename(fresh.c_str(), record_path(dir).c_str()) == 0;
}

void remove_cluster_files(const std::string& dir, const ClusterRecord& record) {
  std::error_code ignored;
  for (const LocalNode& node : record.nodes)
    for (const char* extension : {"toml", "log", "sock"})
      std::filesystem::remove(node_path(dir, node.rank, extension), ignored);
  std::filesystem::remove(record_path(dir), ignored);
  std::filesystem::remove(dir, ignored);  // only if nothing else is in it
}

}  // namespace fibocast

#include "collectives/models/workstations_file.h"

#include <algorithm>
#include <charconv>
#include <span>

namespace fibocast {
namespace {

using Words = std::span<const std::string_view>;

std::vector<std::string_view> words_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> words;
  for (std::size_t begin; (begin = line.find_first_not_of(" \t\r")) != std::string_view::npos;) {
    line.remove_prefix(begin);
    words.push_back(line.substr(0, line.find_first_of(" \t\r")));
    line.remove_prefix(words.back().size());
  }
  return words;
}

std::string quoted(std::string_view word) { return std::string("\"").append(word.substr(0, 40)).append("\""); }

class Reader {
 public:
  explicit Reader(WorkstationPreset preset)
      : cluster_{{slow_workstation(), fast_workstation()}, {}, workstation_link(preset)} {}

  // A sentence if something is wrong with the line.
  std::string read(Words words) {
    if (words[0] == "type" && words.size() == 6) return read_type(words);
    if (words[0] == "link" && words.size() == 3) return read_link(words);
    if (words[0] == "nodes" && (words.size() == 2 || words.size() == 3)) return read_nodes(words);
    return "write \"type NAME SEND SEND_PER_BYTE RECEIVE RECEIVE_PER_BYTE\", \"link LATENCY PER_BYTE\" or "
           "\"nodes NAME [COUNT]\"";
  }
  WorkstationCluster take() { return std::move(cluster_); }

 private:
  // Microseconds.
  std::string read_costs(Words words, std::span<Rational> costs) {
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const auto quantity = parse_quantity(words[i]);
      if (!quantity) return quoted(words[i]) + " is no cost: write 90, 0.18, 9/5 or 90us";
      costs[i] = quantity->is_time ? quantity->value / Rational(1000) : quantity->value;
    }
    return {};
  }

  std::string read_type(Words words) {
    const std::string name(words[1]);
    if (std::ranges::find(defined_, name) != defined_.end())
      return "the type " + quoted(name) + " is here for the second time";
    Rational costs[4];
    std::string error = read_costs(words.subspan(2), costs);
    if (!error.empty()) return error;
    if (costs[0] == Rational(0)) return "the send cost of the type " + quoted(name) + " must be above 0";
    defined_.push_back(name);
    const auto old = std::ranges::find(cluster_.types, name, &WorkstationType::name);
    WorkstationType& type = old == cluster_.types.end() ? cluster_.types.emplace_back() : *old;
    type = {name, costs[0], costs[1], costs[2], costs[3]};
    return {};
  }

  std::string read_link(Words words) {
    Rational costs[2];
    std::string error = read_costs(words.subspan(1), costs);
    cluster_.link = {costs[0], costs[1]};
    return error;
  }

  std::string read_nodes(Words words) {
    const auto type = std::ranges::find(cluster_.types, words[1], &WorkstationType::name);
    if (type == cluster_.types.end()) return "there is no type " + quoted(words[1]) + " above this line";
    std::uint64_t count = 1;
    if (words.size() == 3) {
      const auto [end, error] = std::from_chars(words[2].data(), words[2].data() + words[2].size(), count);
      if (error != std::errc() || end != words[2].data() + words[2].size())
        return quoted(words[2]) + " is no number of nodes";
    }
    if (count > kMostWorkstations - cluster_.nodes.size())
      return "these are more than " + std::to_string(kMostWorkstations) + " nodes";
    cluster_.nodes.insert(cluster_.nodes.end(), count, static_cast<std::uint32_t>(type - cluster_.types.begin()));
    return {};
  }

  WorkstationCluster cluster_;
  std::vector<std::string> defined_;
};

}  // namespace

std::optional<WorkstationCluster> parse_workstations(std::string_view text, WorkstationPreset preset,
                                                     std::string& error) {
  Reader reader(preset);
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::string_view rest = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), rest.size() + 1));
    const auto words = words_of(rest);
    if (words.empty()) continue;
    const std::string wrong = reader.read(words);
    if (wrong.empty()) continue;
    error = "line " + std::to_string(line) + ": " + wrong;
    return {};
  }
  WorkstationCluster cluster = reader.take();
  if (!cluster.nodes.empty()) return cluster;
  error = "there are no nodes: write \"nodes NAME [COUNT]\"";
  return {};
}

}  // namespace fibocast

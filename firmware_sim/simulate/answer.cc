#include "firmware_sim/simulate/answer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "collectives/schedule.h"
#include "firmware_sim/machine_file.h"

namespace fibocast {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostLinks = 1000;      // in an answer: the busiest
constexpr std::size_t kMostPrintedLinks = 5;  // in a text

// Whole numbers and short decimals as numbers, everything else as "p/q".
Json number(const Rational& value) {
  if (value.is_integer()) return value.numerator();
  const std::string text = value.to_decimal_string();
  constexpr std::size_t kDigitsOfADouble = 15;
  if (text.find('/') == std::string::npos && text.size() <= kDigitsOfADouble + 1) return std::stod(text);
  return value.to_string();
}

std::string human(const Experiment& experiment, const Rational& time) {
  return experiment.request().machine.is_time ? time_text(time) : time.to_decimal_string();
}

std::vector<LinkLoad> busiest(const NetworkLoads& loads, std::size_t most) {
  std::vector<LinkLoad> links = loads.links;
  std::ranges::stable_sort(links, std::greater<>(), &LinkLoad::busy);
  links.resize(std::min(links.size(), most));
  return links;
}

std::uint64_t queue_peak(const NetworkLoads& loads) {
  std::uint64_t peak = 0;
  for (const LinkLoad& link : loads.links) peak = std::max(peak, link.queue_peak);
  return peak;
}

void add_loads(const Experiment& experiment, const NetworkLoads& loads, Json& json) {
  const std::string unit = experiment.request().machine.is_time ? "_ns" : "";
  json["longest_way"] = loads.longest_way;
  json["conflicts"] = loads.conflicts;
  json["most_conflicts"] = loads.most_conflicts;
  json["waited" + unit] = number(experiment.time(loads.waited));
  json["queue_peak"] = queue_peak(loads);
  json["links_used"] = loads.links.size();
  Json& links = json["links"] = Json::array();
  for (const LinkLoad& link : busiest(loads, kMostLinks))
    links.push_back({{"link", link.name},
                     {"messages", link.messages},
                     {"busy" + unit, number(experiment.time(link.busy))},
                     {"queue_peak", link.queue_peak}});
}

std::string loads_text(const Experiment& experiment, const NetworkLoads& loads) {
  if (loads.links.empty()) return {};
  std::string text = "longest way " + std::to_string(loads.longest_way) + " links, " + std::to_string(loads.conflicts) +
                     " conflicts, " + human(experiment, experiment.time(loads.waited)) +
                     " waited in the network, queues up to " + std::to_string(queue_peak(loads)) + "\nbusiest of " +
                     std::to_string(loads.links.size()) + " links:\n";
  for (const LinkLoad& link : busiest(loads, kMostPrintedLinks))
    text += "  " + link.name + ": " + std::to_string(link.messages) + " messages, busy " +
            human(experiment, experiment.time(link.busy)) + "\n";
  return text;
}

}  // namespace

std::string time_text(const Rational& nanoseconds) {
  constexpr std::array<std::pair<const char*, std::uint64_t>, 3> kUnits = {
      {{" s", 1'000'000'000}, {" ms", 1'000'000}, {" us", 1'000}}};
  for (const auto& [name, unit] : kUnits)
    if (nanoseconds >= Rational(unit)) return (nanoseconds / unit).to_decimal_string() + name;
  return nanoseconds.to_decimal_string() + " ns";
}

void add_heading(const Experiment& experiment, Json& json) {
  const ExperimentRequest& request = experiment.request();
  json["machine"] = request.machine.name;
  if (!request.machine.note.empty()) json["note"] = request.machine.note;
  json["network"] = network_name(request.machine.network);
  json["ports"] = request.machine.ports == Ports::kShared ? "shared" : "independent";
  json["placement"] = placement_name(request.placement);
  json["seed"] = request.seed;
  json["operation"] = operation_name(request.operation);
  json[request.tree.empty() ? "algorithm" : "tree"] = experiment.way();
  json["ranks"] = request.ranks;
  json["root"] = request.root;
  json["bytes"] = request.bytes;
}

Json answer_json(const Experiment& experiment, const SimulationRun& run) {
  const std::string unit = experiment.request().machine.is_time ? "_ns" : "";
  Json json;
  json["completion" + unit] = number(experiment.time(run.completion));
  std::vector<Json> activation(run.active.size());
  for (Rank v = 0; v < run.active.size(); ++v)
    activation[experiment.real_rank(v)] = number(experiment.time(run.active[v]));
  json["activation" + unit] = std::move(activation);
  json["messages"] = run.messages;
  json["message_bytes"] = run.bytes;
  json["events"] = run.events;
  add_heading(experiment, json);
  if (const auto literal = experiment.gather_by_equation_12())
    json["completion_by_equation_12" + unit] = number(*literal);
  add_loads(experiment, run.loads, json);
  return json;
}

std::string answer_text(const Experiment& experiment, const SimulationRun& run) {
  const ExperimentRequest& request = experiment.request();
  std::string text(operation_name(request.operation));
  text += " among " + std::to_string(request.ranks) + (request.ranks == 1 ? " rank" : " ranks");
  if (request.bytes > 0) text += ", " + std::to_string(request.bytes) + " bytes";
  text += ", " + experiment.way() + " on " + request.machine.name + ": " +
          human(experiment, experiment.time(run.completion)) + "\n";
  if (!request.machine.note.empty()) text += "(" + request.machine.note + ")\n";
  text += std::to_string(run.messages) + " messages, " + std::to_string(run.events) + " events\n";
  if (const auto literal = experiment.gather_by_equation_12())
    text +=
        "by equation 12 of the paper, in which messages wait for a free wire: " + human(experiment, *literal) + "\n";
  return text + loads_text(experiment, run.loads);
}

}  // namespace fibocast

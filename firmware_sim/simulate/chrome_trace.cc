#include "firmware_sim/simulate/chrome_trace.h"

#include <nlohmann/json.hpp>
#include <ostream>

namespace fibocast {
namespace {

using Json = nlohmann::ordered_json;

double microseconds(const Experiment& experiment, Ticks ticks) {
  const double time = experiment.time(ticks).approximately();
  return experiment.request().machine.is_time ? time / 1000 : time;
}

}  // namespace

void write_chrome_trace(const Experiment& experiment, const SimulationRun& run, std::ostream& out) {
  const bool independent = experiment.request().machine.ports == Ports::kIndependent;
  out << '[';
  for (const PortUse& use : run.port_uses) {
    const Rank peer = experiment.real_rank(use.peer);
    const double begin = microseconds(experiment, use.begin);
    Json event;
    event["name"] = (use.is_send ? "send to " : "receive from ") + std::to_string(peer);
    event["cat"] = use.is_send ? "send" : "receive";
    event["ph"] = "X";
    event["ts"] = begin;
    event["dur"] = microseconds(experiment, use.end) - begin;
    event["pid"] = experiment.real_rank(use.rank);
    event["tid"] = independent && !use.is_send ? 1 : 0;
    event["args"] = {{"bytes", use.bytes}, {"peer", peer}};
    out << (&use == run.port_uses.data() ? "\n" : ",\n") << event;
  }
  out << "\n]\n";
}

}  // namespace fibocast

#include "runtime/daemon/node_trace.h"

#include <algorithm>

#include "runtime/daemon/group_planner.h"

namespace fibocast {
namespace {

constexpr std::uint64_t kMostEvents = 4096;  // 128 KiB of a response

void fill_machine(const Settings& settings, client::Machine& out) {
  const NicSettings nic = nic_settings(settings);
  const Settings::ModelSection& m = settings.model;
  const ByteCosts bytes = byte_costs(settings);
  out.set_emulated(nic.enabled);
  out.set_s_ns(nic.enabled ? nic.send : m.s_ns);
  out.set_l_ns(nic.enabled ? nic.latency : m.l_ns);
  out.set_o_ns(nic.enabled ? nic.receive : m.o_ns);
  out.set_send_per_byte_ns(nic.enabled ? nic.send_per_byte : bytes.send);
  out.set_receive_per_byte_ns(nic.enabled ? nic.receive_per_byte : bytes.receive);
  out.set_independent_ports(nic.ports == NicPorts::kIndependent);
}

}  // namespace

void fill_trace(Node& node, const Settings& settings, std::uint64_t first, Nanoseconds now, client::Trace& trace) {
  if (first == 0) node.describe_groups(now);
  const FlightRecorder& recorder = node.flight_recorder();
  const std::uint64_t begin = std::clamp(first, recorder.first(), recorder.recorded());
  const std::uint64_t end = std::min(begin + kMostEvents, recorder.recorded());
  trace.set_rank(settings.node.rank);
  trace.set_first(begin);
  trace.set_recorded(recorder.recorded());
  for (std::uint64_t i = begin; i < end; ++i)
    trace.mutable_events()->append(reinterpret_cast<const char*>(&recorder.event(i)), sizeof(FlightEvent));
  fill_machine(settings, *trace.mutable_machine());
}

}  // namespace fibocast

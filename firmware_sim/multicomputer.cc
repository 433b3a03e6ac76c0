#include "firmware_sim/multicomputer.h"

#include <algorithm>
#include <utility>

namespace fibocast {
namespace {

constexpr std::uint64_t kEventsPerProgress = 1u << 20;
constexpr Ticks kLatest = Ticks{1} << 62;  // later ones could pass the end of 64 bits when a cost is added

class Multicomputer {
 public:
  Multicomputer(Firmware firmware, Network& network, const SimulationOptions& options)
      : firmware_(std::move(firmware)), network_(network), options_(options), sends_later_(firmware_.ranks()) {}

  bool run() {
    for (Rank rank = 0; rank < firmware_.ranks(); ++rank)
      if (firmware_.call(rank)) push_send(rank, 0);
    while (!too_late_ && queue_.next_batch(batch_) && !firmware_.failed())
      for (const TimedEvent& event : batch_) handle(event);
    return !too_late_ && firmware_.finished();
  }

  std::string failure() const {
    return too_late_ ? "it takes longer than can be counted in the ticks of this machine"
                     : "the schedule never ends, or a message is not expected";
  }

  SimulationRun result() && {
    run_.active = firmware_.active();
    run_.completion = *std::ranges::max_element(run_.active);
    run_.loads = network_.loads();
    return std::move(run_);
  }

 private:
  void handle(const TimedEvent& event) {
    if (++run_.events % kEventsPerProgress == 0 && options_.progress) options_.progress(run_.events, event.time);
    switch (event.kind) {
      case TimedKind::kHop: return pass(event, network_.go_on(event.packet, event.time));
      case TimedKind::kDeparture: return enter(event);
      case TimedKind::kReceiveRequest: return request_receive(event);
      case TimedKind::kReceived:
        if (firmware_.receive(event, event.time)) push_send(event.rank, event.time);
        return;
      case TimedKind::kSend: return serve_sends(event);
    }
  }

  void push(const TimedEvent& event) {
    too_late_ = too_late_ || event.time > kLatest;
    if (!too_late_) queue_.push(event);
  }

  // A node may be told twice at one time that it has something to send; the second time it has no longer.
  void push_send(Rank rank, Ticks now) { push({.time = now, .source = rank, .rank = rank, .kind = TimedKind::kSend}); }

  // Asked again whenever something comes in meanwhile.
  void send_later(Rank rank, Ticks when) {
    if (sends_later_[rank] == when) return;
    sends_later_[rank] = when;
    push_send(rank, when);
  }

  NodeId node(Rank rank) const { return options_.node_of.empty() ? rank : options_.node_of[rank]; }

  void serve_sends(const TimedEvent& event) {
    for (Outgoing out; !too_late_ && firmware_.next_send(event.rank, out);) {
      if (out.not_before > event.time) return send_later(event.rank, out.not_before);
      firmware_.send(event.rank, out, network_.extra_send(node(event.rank), node(out.target)), event.time);
      ++run_.messages;
      run_.bytes += out.bytes;
      if (options_.record) run_.port_uses.push_back({event.rank, out.target, true, out.bytes, out.begins, out.departs});
      const TimedEvent departure{.time = out.departs,
                                 .source = event.rank,
                                 .rank = out.target,
                                 .transfer = out.transfer,
                                 .repetition = out.repetition,
                                 .kind = TimedKind::kDeparture,
                                 .stage = out.stage};
      if (network_.is_free_of_contention()) {
        pass(departure, network_.enter({node(event.rank), node(out.target), out.bytes}, out.departs));
      } else {
        push(departure);
      }
    }
  }

  void enter(const TimedEvent& event) {
    pass(event, network_.enter({node(event.source), node(event.rank), firmware_.bytes_of(event)}, event.time));
  }

  void pass(TimedEvent event, const Passage& passage) {
    event.time = passage.time;
    event.packet = passage.packet;
    event.kind = passage.arrived ? TimedKind::kReceiveRequest : TimedKind::kHop;
    push(event);
  }

  void request_receive(TimedEvent event) {
    const bool looks = options_.record || firmware_.charges_received_bytes(event.rank);
    const std::uint64_t bytes = looks ? firmware_.bytes_of(event) : 0;
    const Occupancy port = firmware_.occupy(event.rank, bytes, event.time);
    if (options_.record) run_.port_uses.push_back({event.rank, event.source, false, bytes, port.begins, port.ends});
    event.time = port.ends;
    event.kind = TimedKind::kReceived;
    push(event);
  }

  Firmware firmware_;
  Network& network_;
  const SimulationOptions& options_;
  TimedEventQueue queue_;
  std::vector<TimedEvent> batch_;
  std::vector<Ticks> sends_later_;  // by rank: the not_before that it waits for
  SimulationRun run_;
  bool too_late_ = false;
};

std::string objection_to(const OperationShape& shape, const NodeTable& nodes, const Network& network) {
  if (shape.ranks > network.nodes())
    return "the machine has " + std::to_string(network.nodes()) + " nodes, not " + std::to_string(shape.ranks);
  return objection_to_costs(nodes.kinds, network);
}

}  // namespace

std::string objection_to_costs(const std::vector<PortCosts>& kinds, const Network& network) {
  const auto is_free = [](const PortCosts& costs) { return costs.send == 0; };
  if (network.shortest_transit() > 0 || std::ranges::none_of(kinds, is_free)) return {};
  return "a send must cost its node something, or the network must take some time";
}

std::optional<SimulationRun> simulate_machine(const Workload& workload, const NodeTable& nodes, Network& network,
                                              const SimulationOptions& options, std::string& error) {
  error = objection_to(workload.shape, nodes, network);
  if (!error.empty()) return {};
  auto programs = RankPrograms::build(workload);
  if (!programs) {
    error = "some rank has no schedule that fits into 255 stages and " + std::to_string(kMostTransfers) + " transfers";
    return {};
  }
  return simulate_programs(workload.shape, *std::move(programs), nodes, network, options, error);
}

std::optional<SimulationRun> simulate_programs(const OperationShape& shape, RankPrograms programs,
                                               const NodeTable& nodes, Network& network,
                                               const SimulationOptions& options, std::string& error) {
  error = objection_to(shape, nodes, network);
  if (!error.empty()) return {};
  Multicomputer machine(Firmware(shape, std::move(programs), nodes), network, options);
  if (machine.run()) return std::move(machine).result();
  error = machine.failure();
  return {};
}

}  // namespace fibocast

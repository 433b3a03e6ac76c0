#include "firmware_sim/machine_presets.h"

#include <array>

#include "collectives/models/workstations.h"

namespace fibocast {
namespace {

// The postal view of a machine whose r is 3 s (Cordsen et al. 1997).
MachineDescription ideal(Rank) {
  MachineDescription d;
  d.kinds = {{.name = "node", .send = 1, .occupancy = 1}};
  d.latency = 2;
  return d;
}

// A26: s = 27 us, r = 88 us, all of it work of the receiver.
MachineDescription manna(Rank) {
  MachineDescription d;
  d.name = "manna";
  d.note =
      "s = 27 us and r = 88 us are the paper's; that a second crossbar level takes 1 us more is an assumption: the "
      "paper does not say";
  d.is_time = true;
  d.kinds = {{.name = "node", .send = 27 * kMicrosecond, .occupancy = 88 * kMicrosecond}};
  d.network = NetworkKind::kCrossbar;
  d.cluster_nodes = 16;
  d.far_latency = kMicrosecond;
  return d;
}

// B18b, with b = 1: t0(m) = 546 + m; lambda = 1 + D / t0, D growing from lambda(0) = 1.2 to 846 at 512 B. B19: a
// message holds its route for the send time.
MachineDescription delta(Rank) {
  MachineDescription d;
  d.name = "delta";
  d.note =
      "reconstructed: the paper's measurements are lost; t0(m) = (546 + m) b and D = 846 b from 512 B on are what fits "
      "lambda(512) = 1.8 and lambda(16384) = 1.05; times are in units of b, the time per byte";
  d.ports = Ports::kIndependent;
  d.kinds = {{.name = "node", .send = 546, .occupancy = 0, .send_per_byte = 1}};
  d.network = NetworkKind::kMesh;
  d.hold = 546;
  d.hold_per_byte = 1;
  d.latency_bytes = 512;
  d.latency = Rational(546, 5);
  d.latency_per_byte = (Rational(846) - d.latency) / Rational(d.latency_bytes);
  return d;
}

// E1, E2: one packet per link and step, nothing but links takes time.
MachineDescription fat_tree(const char* name, const char* capacity) {
  MachineDescription d;
  d.name = name;
  d.note = "times are steps: each message is one packet and crosses one branch per step";
  d.ports = Ports::kIndependent;
  d.kinds = {{.name = "leaf", .send = 0, .occupancy = 0}};
  d.network = NetworkKind::kFatTree;
  d.capacity = capacity;
  return d;
}
MachineDescription constant_tree(Rank) { return fat_tree("cbft", "constant"); }
MachineDescription exponential_tree(Rank) { return fat_tree("ebft", "exponential"); }

// C2, microseconds; the faster half of the ranks first.
NodeKind workstation(const WorkstationType& type) {
  return {type.name, type.send * kMicrosecond, type.receive * kMicrosecond, type.send_per_byte * kMicrosecond,
          type.receive_per_byte * kMicrosecond};
}
MachineDescription workstations(Rank ranks, WorkstationPreset preset) {
  const WorkstationLink link = workstation_link(preset);
  MachineDescription d;
  d.name = preset == WorkstationPreset::kFolded ? "hnow" : "hnow-literal";
  d.note = preset == WorkstationPreset::kFolded
               ? "X_c = 0: the receive costs of the paper's Table 1 already contain it (folded)"
               : "X_c = 16 us as printed (literal)";
  d.is_time = true;
  d.kinds = {workstation(fast_workstation()), workstation(slow_workstation())};
  d.kind_of_node.assign(ranks, 0);
  for (Rank v = (ranks + 1) / 2; v < ranks; ++v) d.kind_of_node[v] = 1;
  d.network = NetworkKind::kWorkstations;
  d.latency = link.latency * kMicrosecond;
  d.latency_per_byte = link.per_byte * kMicrosecond;
  return d;
}
MachineDescription folded(Rank ranks) { return workstations(ranks, WorkstationPreset::kFolded); }
MachineDescription literal(Rank ranks) { return workstations(ranks, WorkstationPreset::kLiteral); }

constexpr std::array kPresets = {
    MachinePreset{"ideal", "s = 1, l = 2, o = 1 between any two nodes", ideal},
    MachinePreset{"manna", "crossbars of 16 nodes, s = 27 us, r = 88 us (Cordsen et al. 1997)", manna},
    MachinePreset{"delta", "a mesh with wormhole routing, reconstructed (Bruck et al. 1996)", delta},
    MachinePreset{"cbft", "a binary fat tree of constant capacity, in steps (Dimakopoulos)", constant_tree},
    MachinePreset{"ebft", "... of exponential capacity", exponential_tree},
    MachinePreset{"hnow", "fast and slow workstations, half of each (Banikazemi et al. 1999), folded", folded},
    MachinePreset{"hnow-literal", "... with X_c as printed", literal},
};

}  // namespace

std::span<const MachinePreset> machine_presets() { return kPresets; }

std::optional<MachineDescription> machine_preset(std::string_view name, Rank ranks, std::string& error) {
  for (const MachinePreset& preset : kPresets)
    if (preset.name == name) return preset.describe(ranks);
  error = "there is no machine \"" + std::string(name) + "\": a file that ends in .toml, or one of ";
  for (const MachinePreset& preset : kPresets)
    error.append(preset.name).append(&preset == &kPresets.back() ? "" : ", ");
  return {};
}

}  // namespace fibocast

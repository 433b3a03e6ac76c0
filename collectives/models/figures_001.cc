// Banikazemi et al. 1999: Tables 1 and 2, Figs. 3-8. Times in microseconds.
#include <algorithm>
#include <array>

#include "collectives/models/figure.h"
#include "collectives/models/workstation_trees.h"
#include "collectives/models/workstations.h"
#include "collectives/models/workstations_optimum.h"

namespace fibocast {
namespace {

struct NamedPreset {
  const char* name;
  WorkstationPreset preset;
};
constexpr std::array kPresets = {NamedPreset{"folded", WorkstationPreset::kFolded},
                                 NamedPreset{"literal", WorkstationPreset::kLiteral}};
constexpr std::array<std::uint64_t, 8> kSizes = {0, 256, 1000, 1024, 2048, 4096, 8192, 16384};

TickedWorkstations machine(const std::string& letters, WorkstationPreset preset, std::uint64_t bytes) {
  std::string error;
  return workstations_in_ticks(workstations_of_letters(letters, preset, error).value(), bytes);
}

std::string text(const Rational& time) { return time.to_decimal_string(); }

std::string tree_time(const std::string& tree, const std::string& letters, WorkstationPreset preset,
                      std::uint64_t bytes) {
  const TickedWorkstations m = machine(letters, preset, bytes);
  std::string error;
  return text(m.time(completion(choose_workstation_tree(tree, m.costs, 0, error).value(), m.costs)));
}

std::string broadcast_time(const std::string& letters, WorkstationPreset preset, std::uint64_t bytes) {
  return tree_time("binomial", letters, preset, bytes);
}

// The root, rank 0, sends last to the last rank, but an earlier one may be slower.
std::string scatter_time(const std::string& letters, WorkstationPreset preset, std::uint64_t bytes) {
  const TickedWorkstations m = machine(letters, preset, bytes);
  std::uint64_t last = 0;
  for (const std::uint64_t time : scatter_times(m.costs, 0)) last = std::max(last, time);
  return text(m.time(last));
}

std::string gather_time(const std::string& letters, WorkstationPreset preset, std::uint64_t bytes, GatherModel model) {
  const TickedWorkstations m = machine(letters, preset, bytes);
  return text(m.time(gather_times(m.costs, 0, model).completion()));
}

std::string literal_gather_time(const std::string& letters, WorkstationPreset preset, std::uint64_t bytes) {
  return gather_time(letters, preset, bytes, GatherModel::kLiteral);
}

FigureTable types_of_workstation() {
  FigureTable table{{"type", "S_c", "S_m", "R_c", "R_m"}, {}};
  for (const WorkstationType& t : {slow_workstation(), fast_workstation()})
    table.rows.push_back({t.name, text(t.send), text(t.send_per_byte), text(t.receive), text(t.receive_per_byte)});
  return table;
}

FigureTable empty_messages() {
  FigureTable table{{"sender", "receiver", "folded", "literal"}, {}};
  for (const WorkstationType& sender : {fast_workstation(), slow_workstation()}) {
    for (const WorkstationType& receiver : {fast_workstation(), slow_workstation()}) {
      std::vector<std::string> row = {sender.name, receiver.name};
      for (const auto& [name, preset] : kPresets)
        row.push_back(text(point_to_point_time(sender, receiver, workstation_link(preset), 0)));
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

using TimeOf = std::string (*)(const std::string& letters, WorkstationPreset preset, std::uint64_t bytes);

FigureTable configurations(TimeOf time) {
  const std::array<std::string, 4> letters = {"FFFF", "FFSS", "SFSF", "FSFS"};
  FigureTable table{{"preset", "bytes", "A FFFF", "B FFSS", "C SFSF", "D FSFS"}, {}};
  for (const auto& [name, preset] : kPresets) {
    for (const std::uint64_t bytes : kSizes) {
      std::vector<std::string> row = {name, std::to_string(bytes)};
      for (const std::string& nodes : letters) row.push_back(time(nodes, preset, bytes));
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

FigureTable broadcasts_by_configuration() { return configurations(broadcast_time); }
FigureTable scatters_by_configuration() { return configurations(scatter_time); }
FigureTable gathers_by_configuration() { return configurations(literal_gather_time); }

// C14's reconstruction. Each tree on the placement it was drawn for has the fast nodes first.
FigureTable three_broadcast_trees() {
  const TickedWorkstations m = machine("FFFFSSSS", WorkstationPreset::kFolded, 0);
  FigureTable table{{"tree", "rank", "type", "parent", "active at"}, {}};
  for (const char* name : {"binomial", "slow-first", "hierarchical"}) {
    std::string error;
    const Tree tree = choose_workstation_tree(name, m.costs, 0, error).value();
    const std::vector<std::uint64_t> time = activation_times(tree, m.costs);
    for (Rank v = 0; v < tree.size(); ++v)
      table.rows.push_back({name, std::to_string(v), v < 4 ? "fast" : "slow",
                            v == 0 ? "-" : std::to_string(tree.parent(v)), text(m.time(time[v]))});
  }
  return table;
}

FigureTable broadcasts_by_tree() {
  FigureTable table{{"preset", "nodes", "bytes", "binomial", "slow-first", "hierarchical", "heterogeneous", "optimum"},
                    {}};
  for (const auto& [name, preset] : kPresets) {
    for (const std::size_t half : {4u, 8u}) {
      const std::string letters = std::string(half, 'F') + std::string(half, 'S');
      for (const std::uint64_t bytes : kSizes) {
        std::vector<std::string> row = {name, std::to_string(2 * half), std::to_string(bytes)};
        for (const char* tree : {"binomial", "slow-first", "hierarchical", "heterogeneous:best"})
          row.push_back(tree_time(tree, letters, preset, bytes));
        row.push_back(half == 4 ? tree_time("optimum", letters, preset, bytes) : "-");
        table.rows.push_back(std::move(row));
      }
    }
  }
  return table;
}

FigureTable gathers_by_fast_nodes() {
  FigureTable table{{"preset", "nodes", "bytes", "fast nodes", "equation 12", "wire serialised"}, {}};
  for (const auto& [name, preset] : kPresets) {
    for (const std::size_t nodes : {8u, 16u}) {
      for (const std::uint64_t bytes : {0u, 1024u, 8192u}) {
        for (std::size_t fast = 1; fast <= nodes; ++fast) {
          const std::string letters = std::string(fast, 'F') + std::string(nodes - fast, 'S');
          table.rows.push_back({name, std::to_string(nodes), std::to_string(bytes), std::to_string(fast),
                                gather_time(letters, preset, bytes, GatherModel::kLiteral),
                                gather_time(letters, preset, bytes, GatherModel::kSerialised)});
        }
      }
    }
  }
  return table;
}

}  // namespace

std::span<const FigureEntry> figures_001() {
  static constexpr std::array kFigures = {
      FigureEntry{"001:table1", "costs of the two types of workstation, us and us per byte", types_of_workstation},
      FigureEntry{"001:table2", "latency of an empty message, us, with the wire's 16 us folded in or added",
                  empty_messages},
      FigureEntry{"001:3", "binomial broadcast on four nodes, us against bytes, by configuration",
                  broadcasts_by_configuration},
      FigureEntry{"001:4", "scatter on four nodes, us against bytes, by configuration", scatters_by_configuration},
      FigureEntry{"001:5", "gather on four nodes, us against bytes, by configuration", gathers_by_configuration},
      FigureEntry{"001:6", "three broadcast trees on four fast and four slow nodes (reconstructed), empty message",
                  three_broadcast_trees},
      FigureEntry{"001:7", "broadcast by tree on 8 and 16 nodes, half of them fast, us against bytes",
                  broadcasts_by_tree},
      FigureEntry{"001:8", "gather to a fast root on 8 and 16 nodes, us against the number of fast nodes",
                  gathers_by_fast_nodes},
  };
  return kFigures;
}

}  // namespace fibocast

// One question to a modelled machine, as somebody asks it, made ready to run: how long does this operation take, by
// this algorithm, on that machine?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/tree.h"
#include "collectives/tree_heterogeneous.h"
#include "firmware_sim/machine.h"
#include "firmware_sim/multicomputer.h"
#include "firmware_sim/troubled_nodes.h"

namespace fibocast {

// kRowMajor: rank i is on node i. kReflecting, kGrowing: the tree B(n) of a divide or conquer as Lo et al. 1992 lay it
// out on a mesh (D5, D6); rank v is node 2^n - 1 - v of theirs.
enum class Placement : std::uint8_t { kRowMajor, kRandom, kReflecting, kGrowing };

// "row-major", "random", "reflecting", "growing".
std::string_view placement_name(Placement placement);

struct ExperimentRequest {
  MachineDescription machine;
  Operation operation = Operation::kBarrier;
  // One of both, or neither for "planned": a name of the catalogue of algorithms; or of a tree, those of workstations
  // included, which are for barrier, multicast, reduce and allreduce.
  std::string algorithm = {};
  std::string tree = {};
  std::optional<Tree> given = {};  // the tree itself, which `tree` names: of as many ranks; turned to begin at `root`
  Rank ranks = 1;                  // that take part; the routers of a flooding come on top
  std::uint64_t bytes = 0;
  std::uint32_t segment_bytes = 0;
  Rank root = 0;
  Placement placement = Placement::kRowMajor;
  std::uint64_t seed = 1;
};

class Experiment {
 public:
  // Nothing, and a sentence in `error`, for a question without an answer.
  static std::optional<Experiment> prepare(const ExperimentRequest& request, std::string& error);

  // Once. As simulate_machine().
  std::optional<SimulationRun> run(SimulationOptions options, std::string& error);
  // Once, in its place: as simulate_full_nodes().
  std::optional<SimulationRun> run_full_nodes(std::string& error);
  // Once, in its place: as simulate_troubled_nodes(). Precondition: costs are times.
  std::optional<TroubledRun> run_troubled_nodes(const std::vector<Fault>& faults, std::string& error);

  const ExperimentRequest& request() const { return request_; }
  const OperationShape& shape() const { return workload_.shape; }
  const std::string& way() const { return way_; }  // the algorithm or tree, by its name
  Rank real_rank(Rank virtual_rank) const;
  // Ticks in the machine's unit: nanoseconds if request().machine.is_time.
  Rational time(Ticks ticks) const { return machine_.tick * Rational(ticks); }
  // Equation 12 of Banikazemi et al. 1999 (C10), for direct gathers among workstations.
  std::optional<Rational> gather_by_equation_12() const;

 private:
  explicit Experiment(const ExperimentRequest& request) : request_(request) {}
  bool plan(std::string& error);
  bool place(std::string& error);
  bool take_algorithm(OperationShape shape, std::string& error);
  bool take_tree(OperationShape shape, std::string& error);
  bool take_table(OperationShape shape, std::string& error);
  void set_nodes();
  NodeId place_of(Rank real) const { return placed_.empty() ? real : placed_[real]; }
  std::uint32_t kind_at(NodeId node) const;
  HeterogeneousCosts message_costs() const;

  ExperimentRequest request_;
  Machine machine_;
  Plan plan_;
  Workload workload_;
  std::vector<TreeTableEntry> table_;  // of a given tree, which the plan views
  std::string way_;
  NodeTable nodes_;
  std::vector<NodeId> placed_;   // by real rank; empty: rank i on node i
  std::vector<NodeId> node_of_;  // by virtual rank
};

}  // namespace fibocast

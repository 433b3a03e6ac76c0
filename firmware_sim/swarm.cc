// fibocast_swarm: runs random scenarios, one per seed, and checks every promise after each. Stops at the first broken
// one and says how to see it again.
#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>

#include "collectives/schedule.h"
#include "firmware_sim/checkers/checkers.h"
#include "firmware_sim/swarm_changes.h"
#include "firmware_sim/swarm_lives.h"
#include "firmware_sim/swarm_run.h"
#include "firmware_sim/swarm_scenario.h"
#include "firmware_sim/swarm_streams.h"
#include "firmware_sim/swarm_trouble.h"
#include "runtime/node/peer_message.h"
#include "transport/frame.h"

namespace fibocast {
namespace {

constexpr std::size_t kFindingsShown = 20;
volatile std::sig_atomic_t seed_under_way = 0;

// A node that finds an invariant broken stops the program: say where, or nobody could see it again.
void on_broken_invariant(int) {
  std::fprintf(stderr, "an invariant broke; again: ./dev sim --seed %ld\n", static_cast<long>(seed_under_way));
  std::_Exit(1);
}

Findings findings_of(const SwarmResult& result) {
  Findings findings = check_all(result.history);
  if (!result.finished) findings.push_back("the applications did not come to their end");
  return findings;
}

void print(const History& history, const Record& r) {
  const char* const kinds[] = {"arrives", "done", "sends", "receives", "crashes", "dies", "gives up", "ends"};
  std::string text = describe(history, r) + kinds[static_cast<int>(r.kind)];
  if (r.kind == Record::Kind::kArrived || r.kind == Record::Kind::kDone)
    text += " " + std::string(operation_name(r.operation)) + " of root " + std::to_string(r.root);
  if (r.kind == Record::Kind::kArrived) text += ", deadline " + std::to_string(r.deadline);
  if (r.not_before != 0) text += ", not before " + std::to_string(r.not_before);
  if (r.kind == Record::Kind::kDone) text += ", verdict " + std::to_string(static_cast<int>(r.verdict)) + " ranks";
  for (Rank rank : r.missing) text += " " + std::to_string(rank);
  std::printf("%s, %llu bytes\n", text.c_str(), static_cast<unsigned long long>(r.payload.size));
}

struct Talk {
  bool scenario = false;
  bool history = false;
  bool messages = false;
};

// What nodes tell each other about operations and groups, when it is sent, resent copies included.
bool print_message(Nanoseconds now, NodeId from, NodeId to, std::span<const std::byte> datagram) {
  const std::optional<Frame> frame = decode_frame(datagram);
  if (!frame || frame->type != FrameType::kDataSmall) return true;
  const std::optional<PeerMessage> m = decode_peer_message(frame->body);
  if (!m) return true;
  std::printf("%lld %u -> %u type %d group %llx generation %u verdict %d%s base %u completed %u ranks",
              static_cast<long long>(now), from, to, static_cast<int>(m->type),
              static_cast<unsigned long long>(m->group >> 48), m->generation, static_cast<int>(m->verdict),
              m->arrived ? " arrived" : "", m->window_base, m->completed);
  if (m->creation != kUnknownCreation)
    std::printf(" creation %llx", static_cast<unsigned long long>(m->creation >> 48));
  if (m->next_epoch != 0) std::printf(" epoch %u next %u", m->epoch, m->next_epoch);
  for (std::uint32_t i = 0; i < m->ranks.size(); ++i) std::printf(" %u", m->ranks.at(i));
  std::printf("\n");
  return true;
}

void listen(VirtualCluster& cluster) {
  cluster.network().set_filter([&cluster](NodeId from, NodeId to, VirtualNetwork::Datagram& datagram) {
    return print_message(cluster.now(), from, to, datagram);
  });
}

struct Choice {
  bool plain = false;    // without the troubles of swarm_trouble.h
  bool ahead = false;    // streams go ahead of their grants as a whole, as through shared memory
  bool streams = false;  // nodes over TCP
  bool changes = false;  // groups and daemons come and go (swarm_changes.h)
  bool lives = false;    // applications die, give up and do not number their calls
  std::string options() const {
    return std::string(plain ? " --plain" : "") + (ahead ? " --ahead" : "") + (streams ? " --streams" : "") +
           (changes ? " --changes" : "") + (lives ? " --lives" : "");
  }
  Scenario scenario(std::uint64_t seed) const {
    Scenario scenario = plain ? make_scenario(seed) : scenario_of(seed);
    if (ahead) go_ahead(scenario);
    if (streams) use_streams(scenario);
    if (changes) let_change(scenario);
    if (lives) give_lives(scenario);  // last: calls without numbers are all the same
    return scenario;
  }
};

// Twice, because a run that cannot be seen again helps nobody. False if a promise was broken.
bool run_seed(std::uint64_t seed, const Choice& choice, const Talk& talk) {
  seed_under_way = static_cast<std::sig_atomic_t>(seed);
  const Scenario scenario = choice.scenario(seed);
  if (talk.scenario) std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), describe(scenario).c_str());
  std::fflush(stdout);
  const SwarmResult result = talk.messages ? run_scenario(scenario, listen) : run_scenario(scenario);
  Findings findings = findings_of(result);
  if (run_scenario(scenario).trace != result.trace) findings.push_back("the same seed gave another run");
  if (talk.history)
    for (const Record& r : result.history.records) print(result.history, r);
  if (talk.scenario || !findings.empty())
    std::printf("seed %llu: %zu records, %llu datagrams, %.3f s of virtual time, trace %016llx, %zu findings\n",
                static_cast<unsigned long long>(seed), result.history.records.size(),
                static_cast<unsigned long long>(result.datagrams), static_cast<double>(result.virtual_time) * 1e-9,
                static_cast<unsigned long long>(result.trace), findings.size());
  for (std::size_t i = 0; i < findings.size() && i < kFindingsShown; ++i) std::printf("  %s\n", findings[i].c_str());
  return findings.empty();
}

int run_seeds(std::uint64_t first, std::uint64_t count, const Choice& choice) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!run_seed(first + i, choice, {})) {
      std::printf("again: ./dev sim --seed %llu%s\n", static_cast<unsigned long long>(first + i),
                  choice.options().c_str());
      return 1;
    }
    if ((i + 1) % 100 == 0) {
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
      std::printf("%llu of %llu seeds, %.0f s\n", static_cast<unsigned long long>(i + 1),
                  static_cast<unsigned long long>(count), taken.count());
      std::fflush(stdout);
    }
  }
  std::printf("%llu seeds kept every promise\n", static_cast<unsigned long long>(count));
  return 0;
}

}  // namespace
}  // namespace fibocast

int main(int argc, char** argv) {
  CLI::App app{"Runs random clusters in virtual time and checks every promise of Fibocast."};
  std::uint64_t seeds = 1000, first = 1;
  std::optional<std::uint64_t> one;
  app.add_option("--seeds", seeds, "how many")->capture_default_str();
  app.add_option("--first", first, "the first of them")->capture_default_str();
  app.add_option("--seed", one, "this one alone, with what it does");
  bool history = false;
  fibocast::Choice choice;
  app.add_flag("--ahead", choice.ahead, "data goes ahead of its grant as a whole, as between nodes that share memory");
  app.add_flag("--lives", choice.lives, "applications die in their calls and come back or not, give up, do not number");
  app.add_flag("--plain", choice.plain, "no faults but loss, duplicates and delays; no operations that move data");
  app.add_flag("--changes", choice.changes,
               "groups are removed and made again, daemons leave and come back, nodes are added");
  app.add_flag("--streams", choice.streams, "nodes over TCP: connections that break, stall and fill up");
  bool messages = false;
  app.add_flag("--history", history, "with --seed: print all that the applications saw");
  app.add_flag("--messages", messages, "with --seed: print what the nodes tell each other");
  app.footer("Example: ./dev sim --seeds 10000");
  CLI11_PARSE(app, argc, argv);
  for (int signal : {SIGILL, SIGTRAP, SIGSEGV, SIGABRT}) std::signal(signal, fibocast::on_broken_invariant);
  if (one) return fibocast::run_seed(*one, choice, {true, history, messages}) ? 0 : 1;
  return fibocast::run_seeds(first, seeds, choice);
}

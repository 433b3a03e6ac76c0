#include "firmware_sim/swarm_lives.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace fibocast {
namespace {

constexpr Nanoseconds kPatienceOfAShell = 100 * kSecond;  // one may come after all others, and wait for them

// The shells of a script: one at each node, and all ask for the same.
void do_not_number(ScenarioGroup& group, Random& random) {
  group.numbered = false;
  group.participants = 1;
  const ScenarioOperation operation = group.operations[random.below(group.operations.size())];
  std::ranges::fill(group.operations, operation);
}

}  // namespace

void give_lives(Scenario& scenario) {
  Random random(scenario.seed ^ 0x11fe5);
  ScenarioLives& lives = scenario.lives;
  lives.dies = random.chance(0.5) ? 0.3 : 0.05;
  lives.gives_up = random.chance(0.5) ? 0.2 : 0.02;
  lives.comes_later = random.chance(0.5) ? 0.2 : 0;
  lives.restarts = random.chance(0.5) ? 0.1 : 0;
  lives.stops_waiting = random.chance(0.5) ? 0.3 : 0;
  lives.stays_away = random.chance(0.2) ? 0.1 : 0;
  const std::array<Nanoseconds, 4> graces = {0, 100 * kMillisecond, kSecond, kSecond};
  scenario.cluster.node.client_grace = graces[random.below(graces.size())];
  if (lives.stays_away > 0) scenario.patience = std::min(scenario.patience, kPatienceForTheAbsent);
  for (ScenarioGroup& group : scenario.groups) {
    if (!random.chance(0.25)) continue;
    do_not_number(group, random);
    scenario.patience = std::min(scenario.patience, kPatienceOfAShell);
  }
}

SwarmLives::SwarmLives(const Scenario& scenario, Nanoseconds client_grace)
    : lives_(scenario.lives),
      client_grace_(client_grace),
      random_(scenario.seed ^ 0xd1e5),
      newest_client_(scenario.cluster.nodes) {}

Nanoseconds SwarmLives::soon() {
  constexpr double kShortest = 1'000, kLongest = 3'000'000'000;
  const double part = static_cast<double>(random_.below(1001)) / 1000;
  return static_cast<Nanoseconds>(kShortest * std::exp(std::log(kLongest / kShortest) * part));
}

// In time to take its place, or not.
Nanoseconds SwarmLives::away() {
  if (random_.chance(lives_.stays_away)) return kNever;
  return random_.chance(0.5) ? random_.between(0, client_grace_) : client_grace_ + soon();
}

Fate SwarmLives::fate_of_call() {
  Fate fate;
  if (random_.chance(lives_.comes_later)) fate.comes_later = soon();
  if (random_.chance(lives_.dies))
    fate = {Fate::Kind::kDies, soon(), away(), fate.comes_later};
  else if (random_.chance(lives_.gives_up))
    fate = {Fate::Kind::kGivesUp, soon(), kNever, fate.comes_later};
  return fate;
}

}  // namespace fibocast

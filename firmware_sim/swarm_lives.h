// Applications as they are: they die in their calls and come back or do not, give up what they have called, end between
// two calls, call with a not_before, stop waiting for messages; and those of some groups do not number their calls,
// like the shells of the command line, and join whatever is open.
#pragma once

#include <cstdint>
#include <vector>

#include "firmware_sim/random.h"
#include "firmware_sim/swarm_scenario.h"

namespace fibocast {

// The scenario's applications live so, as another stream of its seed decides.
void give_lives(Scenario& scenario);

// What becomes of one call.
struct Fate {
  enum class Kind : std::uint8_t { kWaits, kDies, kGivesUp };
  Kind kind = Kind::kWaits;
  Nanoseconds after = 0;        // ... if it is not answered before
  Nanoseconds away = kNever;    // kDies: until it is back
  Nanoseconds comes_later = 0;  // by so much it counts later than it is made
};

// Nobody waits longer for who stays away.
inline constexpr Nanoseconds kPatienceForTheAbsent = 5 * kSecond;

// The dice of a run's applications, and the numbers under which they come to the daemons.
class SwarmLives {
 public:
  SwarmLives(const Scenario& scenario, Nanoseconds client_grace);

  // Precondition: ScenarioLives::any().
  Fate fate_of_call();
  bool restarts() { return random_.chance(lives_.restarts); }
  bool stops_waiting() { return random_.chance(lives_.stops_waiting); }
  Nanoseconds soon();  // short times as often as long ones
  // Of clients of one daemon, in the order in which they came; from 1 on.
  std::uint32_t next_client(NodeId node) { return ++newest_client_[node]; }
  std::uint32_t newest_client(NodeId node) const { return newest_client_[node]; }

 private:
  Nanoseconds away();

  ScenarioLives lives_;
  Nanoseconds client_grace_;
  Random random_;
  std::vector<std::uint32_t> newest_client_;
};

}  // namespace fibocast

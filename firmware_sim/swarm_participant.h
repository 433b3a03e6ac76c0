// One participant of a group in the swarm: it calls one operation of the group's list after the other, like a
// program that uses the library.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "firmware_sim/swarm_run.h"

namespace fibocast {

class SwarmParticipant {
 public:
  SwarmParticipant(SwarmRun& run, std::uint32_t group, NodeId node, std::uint32_t index);
  // Opens the group, then works through the list.
  void begin();
  NodeId node() const { return node_; }
  // It has nothing more to do.
  void end();
  // It dies with its node, and begins anew with it.
  void on_crash();
  void on_restart();

 private:
  const ScenarioGroup& group() const { return run_.scenario().groups[group_]; }
  const ScenarioOperation& operation() const { return group().operations[generation_]; }
  bool is_sender() const;
  // Nothing happens if the participant died in between; while its node is paused the application waits for it.
  void later(Nanoseconds delay, std::function<void()> action);
  void enter(const Membership& m);
  bool knows_group() const;
  bool is_ours(const Membership& m) const;
  void lose_group();
  bool is_hopeless() const;
  Nanoseconds patience() const { return group().patience > 0 ? group().patience : run_.scenario().patience; }
  bool is_ahead() const;
  void open_again(int attempts);
  void call_next();
  void call();
  void pass();
  bool moves_data() const;  // by another operation than multicast
  Rank rank() const;
  Asked ask(Nanoseconds deadline);
  Asked ask_for_data(Nanoseconds deadline);
  void on_answer(const Answer& answer);
  Record record(Record::Kind kind) const;

  SwarmRun& run_;
  std::uint32_t group_;
  NodeId node_;
  std::uint32_t index_;
  GroupId id_ = 0;
  std::uint32_t definition_ = 0;  // where groups come and go
  Generation generation_ = 0;
  Nanoseconds patience_ = 0;    // of the call that is being made
  Nanoseconds give_up_at_ = 0;  // for want of room
  std::uint64_t cookie_ = 0;    // of the call that was taken
  int times_outside_ = 0;       // in a row
  int lives_ = 0;               // how often it died
  bool begun_ = false, ended_ = false;
};

}  // namespace fibocast

// One participant of a group in the swarm: it calls one operation of the group's list after the other, like a
// program that uses the library, or a script of shells.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "firmware_sim/swarm_lives.h"
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
  const ScenarioOperation& operation() const;
  std::uint64_t payload_key() const;
  bool is_sender() const;
  // Nothing happens if the participant died in between; while its node is paused the application waits for it.
  void later(Nanoseconds delay, std::function<void()> action);
  void enter(const Membership& m);
  bool knows_group() const;
  // Nothing: it is not there, or another one is in its place.
  std::optional<Membership> open();
  bool is_ours(const Membership& m) const;
  void lose_group();
  bool is_hopeless() const;
  Nanoseconds patience() const { return group().patience > 0 ? group().patience : run_.scenario().patience; }
  bool is_ahead() const;
  void open_again(int attempts);
  void call_next();
  void call();
  void on_no_room();
  void pass();
  // What befalls it in a call, if that is not answered before.
  void meet(const Fate& fate);
  void die(Nanoseconds away);
  void come_back();
  void restart();
  void give_up();
  void drop_call(Record::Kind why, const std::string& label);
  bool moves_data() const;  // by another operation than multicast
  Rank rank() const;
  std::vector<std::byte> brings() const;
  Asked ask(const Record& arrived);
  void on_answer(const Answer& answer);
  void count(const CallDone& done);
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
  bool waits_ = false;          // for its answer
  std::size_t arrival_ = 0;     // its record
  std::uint32_t client_ = 0;    // its number at the daemon
  std::size_t calls_ = 0;       // that it made
  int times_outside_ = 0;       // in a row
  int lives_ = 0;               // how often it died
  bool begun_ = false, ended_ = false;
};

}  // namespace fibocast

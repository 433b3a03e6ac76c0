// Finds out the own rank in a cluster whose daemons know only a name that stands for all their addresses. Pure: names,
// messages and ticks in, messages and states to be kept out; discovery_host.h gives it sockets.
//
// A cluster forms once. When `expect` daemons have spoken, the one that is first in rank order proposes the list. Each
// member keeps it on disk before it agrees, and agrees to no other until the proposer takes it back. When all have
// agreed, the proposer - rank 0 - keeps it as formed and tells the others. So there is never a second list that all of
// its members agreed to.
//
// From then on only rank 0 changes the list, so there is one order of versions. A daemon that comes back is in it by
// its id, and asks rank 0 first whether it still is. To an unknown daemon rank 0 gives the rank with the same host
// name, else the lowest one that is vacant: not connected for a while, and its address gone from the name. Whoever
// finds its rank given to another ends. While rank 0 is away nobody takes a rank, and who has one works on.
//
//   events in   on_names(), on_message(), tick()
//   queries     rank(), list(), is_member(), waits_for()
//   outputs     the handlers; none calls back
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/daemon/discovery_message.h"

namespace fibocast {

// What outlives the process.
struct DiscoveryState {
  DaemonId id = 0;
  DiscoveredList list;  // formed, or agreed to
};

class Discovery {
 public:
  using Address = boost::asio::ip::address;
  struct Who {
    std::uint32_t expect = 1;
    std::uint16_t port = 0;  // where this daemon receives frames
    std::string host = "-";
  };
  struct Handlers {
    std::function<void(const Address& to, const DiscoveryMessage&)> send;  // may be lost
    std::function<void(const DiscoveryState&)> keep;                       // on disk when it returns
    std::function<std::uint64_t()> random;                                 // never 0
    std::function<bool(NodeId)> is_connected;                              // asked only while is_member()
    std::function<void(NodeId, const NodeAddress&)> on_moved;              // a member is somewhere else now
    std::function<void()> on_replaced;                                     // the own rank is another daemon's: end
  };
  // In ticks; a tick is half a second until is_member(), then a second.
  static constexpr int kHeardFor = 8;      // who has not spoken for so long is not there
  static constexpr int kProposalFor = 20;  // who has not agreed by then is given up
  static constexpr int kVacantAfter = 10;  // a rank that was not connected for so long may be given away
  static constexpr int kNamedFor = 12;     // an address is gone when so many answers did not have it (see on_names())
  static constexpr int kGreetEvery = 10;   // a member asks rank 0 whether the list is still the same

  // `was_member`: this process has had the rank in state.list since before (discovery and service are two phases).
  Discovery(Who who, DiscoveryState state, bool was_member, Handlers handlers);

  // What the name stands for now, or a part of it: a resolver may give no more than fit into 512 bytes, others each
  // time.
  void on_names(const std::vector<Address>& addresses);
  void on_message(const Address& from, const DiscoveryMessage& message);
  void tick();

  bool is_member() const { return member_; }  // it has its rank, for this process's whole life
  NodeId rank() const { return rank_; }       // while is_member()
  const DiscoveredList& list() const { return state_.list; }
  bool wants_names() const;       // the name should be looked up before the next tick
  std::string waits_for() const;  // for people: the rest of "this daemon ..."

 private:
  struct Heard {
    DiscoveredList::Member who;
    bool is_free = false;  // has not agreed to any list
    int tick = 0;
  };
  DiscoveryMessage message(DiscoveryMessage::Kind kind) const;
  void keep(DiscoveredList list);
  int heard_for() const { return kHeardFor + static_cast<int>(who_.expect) / 4; }  // it asks some in turn
  bool is_proposer() const { return state_.list.cluster != 0 && state_.list.proposer == state_.id; }
  bool knows_another_cluster() const { return other_cluster_ != 0 && now_ - other_cluster_ < heard_for(); }
  void become_member();
  // An unformed daemon.
  void ask();
  void next_in_turn(std::set<Address>& to);
  void propose_if_first();
  std::vector<DiscoveredList::Member> free_daemons() const;
  void go_on_proposing();
  void form_if_all_agreed();
  void withdraw();
  void on_propose(const Address& from, const DiscoveryMessage& message);
  void on_accept(const DiscoveryMessage& message);
  void on_withdraw(const DiscoveryMessage& message);
  // A formed cluster.
  void on_list(const DiscoveryMessage& message);
  void return_by(const DiscoveryMessage& message);
  void adopt(const DiscoveredList& list);
  void on_ask(const Address& from, const DiscoveryMessage& message);
  void answer(const Address& from, const DiscoveryMessage& message);
  void note_address(NodeId rank, const Address& from, std::uint16_t port);
  void give_rank(const Address& from, const DiscoveryMessage& message);
  std::optional<NodeId> vacant_rank(const Address& from, const std::string& host) const;
  bool is_away(NodeId rank) const { return away_[rank] >= kVacantAfter; }
  void tick_as_member();

  Who who_;
  DiscoveryState state_;
  Handlers handlers_;
  bool member_ = false;
  NodeId rank_ = kNoNode;
  int now_ = 0;
  std::map<Address, int> named_;  // answers since the name last stood for it
  std::map<Address, Heard> heard_;
  std::set<DaemonId> agreed_;
  int proposed_at_ = 0, other_cluster_ = 0;
  Address last_in_turn_;
  std::vector<int> away_;  // by rank: ticks since it was connected
};

}  // namespace fibocast

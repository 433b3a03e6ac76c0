#include "runtime/daemon/discovery.h"

#include <algorithm>

namespace fibocast {

using Kind = DiscoveryMessage::Kind;
using Member = DiscoveredList::Member;

namespace {

// So many of the lowest addresses hear of everybody, the others in turn: messages grow with n, not with its square.
constexpr std::size_t kAlwaysAsked = 4, kAskedInTurn = 8;

std::string node_text(const Member& member) {
  const std::string address = member.at.address.to_string();
  return (member.at.address.is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(member.at.port);
}

}  // namespace

Discovery::Discovery(Who who, DiscoveryState state, bool was_member, Handlers handlers)
    : who_(std::move(who)), state_(std::move(state)), handlers_(std::move(handlers)) {
  if (!state_.list.rank_of(state_.id)) state_.list = {};
  const DiscoveredList& list = state_.list;
  if (list.is_formed() && (was_member || list.rank_of(state_.id) == NodeId{0}))
    become_member();  // rank 0 needs no word
}

void Discovery::on_names(const std::vector<Address>& addresses) {
  for (auto& [address, answers] : named_) ++answers;
  for (const Address& address : addresses) named_[address] = 0;
  std::erase_if(named_, [](const auto& named) { return named.second >= kNamedFor; });
}

void Discovery::on_message(const Address& from, const DiscoveryMessage& message) {
  switch (message.kind) {
    case Kind::kAsk: return on_ask(from, message);
    case Kind::kPropose: return on_propose(from, message);
    case Kind::kAccept: return on_accept(message);
    case Kind::kWithdraw: return on_withdraw(message);
    case Kind::kList: return on_list(message);
  }
}

void Discovery::tick() {
  ++now_;
  if (member_) return tick_as_member();
  if (is_proposer() && !state_.list.is_formed()) return go_on_proposing();
  ask();
  if (state_.list.cluster == 0) propose_if_first();
}

bool Discovery::wants_names() const {
  if (!member_) return true;
  return std::any_of(away_.begin(), away_.end(), [](int ticks) { return ticks > 0; });
}

std::string Discovery::waits_for() const {
  const DiscoveredList& list = state_.list;
  if (member_) return "has rank " + std::to_string(rank_);
  if (list.is_formed())
    return "had rank " + std::to_string(*list.rank_of(state_.id)) + " and asks rank 0 (" + node_text(list.members[0]) +
           ") whether it still has; start rank 0, or form the cluster anew: stop all daemons and remove their "
           "node.state";
  if (is_proposer())
    return "has proposed the list and waits until all have agreed: " + std::to_string(agreed_.size()) + " of " +
           std::to_string(list.members.size());
  if (list.cluster != 0)
    return "has agreed to the list of " + node_text(list.members[0]) +
           " and waits for its word; start that daemon, or stop all and remove their node.state";
  if (knows_another_cluster())
    return "waits for a rank: the cluster has formed and has " + std::to_string(who_.expect) +
           " daemons; rank 0 gives it the next one that is gone";
  return "waits for others: " + std::to_string(free_daemons().size()) +
         " of node.expect = " + std::to_string(who_.expect) + " are here";
}

DiscoveryMessage Discovery::message(Kind kind) const {
  DiscoveryMessage message{kind, state_.id, who_.port, member_, who_.host, state_.list};
  if (kind != Kind::kPropose && kind != Kind::kList) message.list.members.clear();
  return message;
}

void Discovery::keep(DiscoveredList list) {
  state_.list = std::move(list);
  handlers_.keep(state_);
}

void Discovery::become_member() {
  member_ = true;
  rank_ = *state_.list.rank_of(state_.id);
  away_.assign(state_.list.members.size(), 0);
  heard_.clear();
}

// -- until the cluster has formed

void Discovery::ask() {
  std::set<Address> to;
  if (!state_.list.members.empty()) to.insert(state_.list.members[0].at.address);
  auto lowest = named_.begin();
  for (std::size_t i = 0; i < kAlwaysAsked && lowest != named_.end(); ++i) to.insert((lowest++)->first);
  next_in_turn(to);
  for (const Address& address : to) handlers_.send(address, message(Kind::kAsk));
}

void Discovery::next_in_turn(std::set<Address>& to) {
  auto next = named_.upper_bound(last_in_turn_);
  for (std::size_t i = 0; i < kAskedInTurn && i < named_.size(); ++i, ++next) {
    if (next == named_.end()) next = named_.begin();
    to.insert(last_in_turn_ = next->first);
  }
}

std::vector<Member> Discovery::free_daemons() const {
  std::vector<Member> free;
  for (const auto& [address, heard] : heard_)
    if (heard.is_free && now_ - heard.tick < heard_for()) free.push_back(heard.who);
  return free;
}

// It hears itself too: the name stands for all daemons.
void Discovery::propose_if_first() {
  auto free = free_daemons();
  if (free.size() < who_.expect || knows_another_cluster()) return;
  put_in_rank_order(free);
  if (free.front().id != state_.id) return;
  free.resize(who_.expect);
  for (Member& member : free) member.node = node_text(member);
  agreed_ = {state_.id};
  proposed_at_ = now_;
  keep({handlers_.random(), 0, state_.id, std::move(free)});
  go_on_proposing();
  form_if_all_agreed();
}

void Discovery::go_on_proposing() {
  if (proposed_at_ == 0) proposed_at_ = now_;  // this process was started again meanwhile
  agreed_.insert(state_.id);
  if (now_ - proposed_at_ > kProposalFor) return withdraw();
  for (const Member& member : state_.list.members)
    if (!agreed_.contains(member.id)) handlers_.send(member.at.address, message(Kind::kPropose));
}

void Discovery::withdraw() {
  const DiscoveredList old = state_.list;
  DiscoveryMessage withdrawn = message(Kind::kWithdraw);
  keep({});  // first: from now on no agreement counts
  agreed_.clear();
  for (const Member& member : old.members)
    if (member.id != state_.id) handlers_.send(member.at.address, withdrawn);
}

void Discovery::on_propose(const Address& from, const DiscoveryMessage& proposed) {
  const DiscoveredList& list = proposed.list;
  if (state_.list.is_formed() || proposed.from != list.proposer) return;
  if (state_.list.cluster == 0 && !knows_another_cluster() && list.cluster != 0 && list.members.size() == who_.expect &&
      list.rank_of(state_.id))
    keep(list);
  if (state_.list.cluster == list.cluster) handlers_.send(from, message(Kind::kAccept));
}

void Discovery::on_accept(const DiscoveryMessage& accepted) {
  if (!is_proposer() || state_.list.is_formed() || accepted.list.cluster != state_.list.cluster) return;
  if (state_.list.rank_of(accepted.from)) agreed_.insert(accepted.from);
  form_if_all_agreed();
}

void Discovery::form_if_all_agreed() {
  if (agreed_.size() < state_.list.members.size()) return;
  DiscoveredList formed = state_.list;
  formed.version = 1;
  keep(std::move(formed));
  become_member();
  for (const Member& member : state_.list.members)
    if (member.id != state_.id) handlers_.send(member.at.address, message(Kind::kList));
}

void Discovery::on_withdraw(const DiscoveryMessage& withdrawn) {
  const DiscoveredList& list = state_.list;
  if (list.is_formed() || list.cluster == 0 || list.cluster != withdrawn.list.cluster) return;
  if (withdrawn.from == list.proposer && !is_proposer()) keep({});
}

}  // namespace fibocast

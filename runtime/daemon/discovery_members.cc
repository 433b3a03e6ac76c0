// The part of Discovery that deals with a cluster which has formed: returning to it, keeping its list, giving ranks.
#include <algorithm>

#include "runtime/daemon/discovery.h"

namespace fibocast {

using Kind = DiscoveryMessage::Kind;
using Member = DiscoveredList::Member;

void Discovery::on_list(const DiscoveryMessage& told) {
  const DiscoveredList& list = told.list;
  if (!list.is_formed() || list.members.empty()) return;
  if (member_) {
    if (list.cluster == state_.list.cluster && list.version > state_.list.version) adopt(list);
    return;
  }
  if (state_.list.cluster != 0 && list.cluster != state_.list.cluster) {  // bound to another one
    other_cluster_ = now_;
    if (is_proposer() && !state_.list.is_formed()) withdraw();
    return;
  }
  if (list.rank_of(state_.id)) return return_by(told);
  other_cluster_ = now_;
  if (list.version > state_.list.version && state_.list.cluster != 0) keep({});  // its rank was given away
}

// Only rank 0 knows for certain that the rank was not given away.
void Discovery::return_by(const DiscoveryMessage& told) {
  if (told.list.version < state_.list.version) return;
  keep(told.list);
  if (told.from == told.list.members[0].id) become_member();
}

void Discovery::adopt(const DiscoveredList& list) {
  if (rank_ >= list.members.size() || list.members[rank_].id != state_.id) return handlers_.on_replaced();
  const DiscoveredList old = state_.list;
  keep(list);
  for (NodeId rank = 0; rank < old.members.size(); ++rank)
    if (rank != rank_ && list.members[rank].at.address != old.members[rank].at.address)
      handlers_.on_moved(rank, list.members[rank].at);
}

void Discovery::on_ask(const Address& from, const DiscoveryMessage& asked) {
  const DiscoveredList& theirs = asked.list;
  const bool agreed_here = theirs.cluster != 0 && theirs.version == 0 && theirs.proposer == state_.id;
  if (agreed_here && theirs.cluster != state_.list.cluster && asked.from != state_.id) {
    DiscoveryMessage withdrawn = message(Kind::kWithdraw);
    withdrawn.list.cluster = theirs.cluster;
    handlers_.send(from, withdrawn);
  }
  if (member_) return answer(from, asked);
  heard_[from] = {{asked.from, "", {from, asked.port}, asked.host}, theirs.cluster == 0, now_};
}

void Discovery::answer(const Address& from, const DiscoveryMessage& asked) {
  if (asked.from == state_.id) return;
  const DiscoveredList& theirs = asked.list;
  if (theirs.cluster == state_.list.cluster && theirs.version > state_.list.version)
    return handlers_.send(from, message(Kind::kAsk));
  if (const auto rank = state_.list.rank_of(asked.from)) {
    away_[*rank] = 0;  // it is told below that it has its rank: nobody else may get it now
    note_address(*rank, from, asked.port);
  } else if (rank_ == 0 && theirs.cluster == 0) {
    give_rank(from, asked);
  }
  const bool up_to_date = theirs.cluster == state_.list.cluster && theirs.version == state_.list.version;
  if (!asked.has_rank || !up_to_date) handlers_.send(from, message(Kind::kList));
}

void Discovery::note_address(NodeId rank, const Address& from, std::uint16_t port) {
  if (state_.list.members[rank].at.address == from) return;
  DiscoveredList list = state_.list;
  list.members[rank].at = {from, port};
  keep(std::move(list));  // the same version: where a member is was never agreed on
  handlers_.on_moved(rank, {from, port});
}

std::optional<NodeId> Discovery::vacant_rank(const Address& from, const std::string& host) const {
  const auto& members = state_.list.members;
  const auto same_host = [&](const Member& member) { return member.host == host; };
  if (host != "-" && std::count_if(members.begin(), members.end(), same_host) == 1) {
    const auto rank = static_cast<NodeId>(std::find_if(members.begin(), members.end(), same_host) - members.begin());
    if (rank != 0 && is_away(rank)) return rank;
  }
  for (NodeId rank = 1; rank < members.size(); ++rank) {
    const Address& at = members[rank].at.address;
    if (is_away(rank) && (at == from || !named_.contains(at))) return rank;
  }
  return {};
}

void Discovery::give_rank(const Address& from, const DiscoveryMessage& asked) {
  if (!named_.contains(from)) return;  // the name is not known just now, or not theirs
  const auto rank = vacant_rank(from, asked.host);
  if (!rank) return;
  DiscoveredList list = state_.list;
  Member& member = list.members[*rank];
  const Address before = member.at.address;
  member = {asked.from, member.node, {from, asked.port}, asked.host};
  ++list.version;
  keep(std::move(list));
  away_[*rank] = 0;
  handlers_.on_moved(*rank, {from, asked.port});
  for (NodeId other = 1; other < state_.list.members.size(); ++other)
    handlers_.send(state_.list.members[other].at.address, message(Kind::kList));
  handlers_.send(before, message(Kind::kList));
}

// Who is not connected may have moved, or be on its way back and not know where the others are.
void Discovery::tick_as_member() {
  std::set<Address> to;
  for (NodeId rank = 0; rank < away_.size(); ++rank) {
    if (rank == rank_ || handlers_.is_connected(rank)) {
      away_[rank] = 0;
      continue;
    }
    ++away_[rank];
    to.insert(state_.list.members[rank].at.address);
  }
  if (!to.empty()) next_in_turn(to);
  if (rank_ != 0 && now_ % kGreetEvery == 0) to.insert(state_.list.members[0].at.address);
  for (const Address& address : to) handlers_.send(address, message(Kind::kAsk));
}

}  // namespace fibocast

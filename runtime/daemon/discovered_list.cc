#include "runtime/daemon/discovered_list.h"

#include <algorithm>
#include <charconv>
#include <istream>
#include <ostream>

namespace fibocast {
namespace {

using Member = DiscoveredList::Member;

// k of a host name PREFIX-k; nothing for any other, such as the number that an engine names a container by.
std::optional<std::size_t> ordinal_of(const std::string& host, const std::string& prefix) {
  if (!host.starts_with(prefix) || host.size() == prefix.size()) return {};
  std::size_t ordinal = 0;
  const char* end = host.data() + host.size();
  const auto [at, error] = std::from_chars(host.data() + prefix.size(), end, ordinal);
  return error == std::errc{} && at == end ? std::optional(ordinal) : std::nullopt;
}

bool are_ordinals(const std::vector<Member>& members, const std::string& prefix) {
  std::vector<bool> seen(members.size());
  for (const Member& member : members) {
    const auto ordinal = ordinal_of(member.host, prefix);
    if (!ordinal || *ordinal >= seen.size() || seen[*ordinal]) return false;
    seen[*ordinal] = true;
  }
  return true;
}

bool address_before(const Member& a, const Member& b) {
  return a.at.address != b.at.address ? a.at.address < b.at.address : a.at.port < b.at.port;
}

std::optional<NodeAddress> read_address(const std::string& text, std::uint16_t port) {
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(text, error);
  return error ? std::nullopt : std::optional(NodeAddress{address, port});
}

}  // namespace

std::optional<NodeId> DiscoveredList::rank_of(DaemonId id) const {
  for (NodeId rank = 0; rank < members.size(); ++rank)
    if (members[rank].id == id) return rank;
  return {};
}

void put_in_rank_order(std::vector<Member>& members) {
  if (members.empty()) return;
  const std::string& host = members.front().host;
  const std::string prefix = host.substr(0, host.rfind('-') + 1);
  if (prefix.size() > 1 && are_ordinals(members, prefix))
    std::sort(members.begin(), members.end(), [&](const Member& a, const Member& b) {
      return ordinal_of(a.host, prefix) < ordinal_of(b.host, prefix);
    });
  else
    std::sort(members.begin(), members.end(), address_before);
}

void write_list(std::ostream& out, const DiscoveredList& list) {
  out << std::hex << "cluster " << list.cluster << " proposer " << list.proposer << std::dec << " version "
      << list.version << " members " << list.members.size() << '\n';
  for (const Member& member : list.members)
    out << std::hex << member.id << std::dec << ' ' << member.node << ' ' << member.at.address.to_string() << ' '
        << member.at.port << ' ' << member.host << '\n';
  out << "end\n";
}

std::optional<DiscoveredList> read_list(std::istream& in) {
  DiscoveredList list;
  std::string cluster, proposer, version, members, end;
  std::size_t count = 0;
  in >> cluster >> std::hex >> list.cluster >> proposer >> list.proposer >> std::dec >> version >> list.version >>
      members >> count;
  if (!in || cluster != "cluster" || proposer != "proposer" || version != "version" || members != "members") return {};
  if (count > kMostDiscovered) return {};
  for (std::size_t i = 0; i < count; ++i) {
    Member member;
    std::string address;
    in >> std::hex >> member.id >> std::dec >> member.node >> address >> member.at.port >> member.host;
    const auto at = in ? read_address(address, member.at.port) : std::nullopt;
    if (!at || member.id == 0) return {};
    member.at = *at;
    list.members.push_back(member);
  }
  in >> end;
  return in && end == "end" ? std::optional(list) : std::nullopt;
}

}  // namespace fibocast

#include "runtime/daemon/discovery_message.h"

#include <array>
#include <sstream>

namespace fibocast {
namespace {

using Kind = DiscoveryMessage::Kind;
constexpr std::array<const char*, 5> kKinds = {"ask", "propose", "accept", "withdraw", "list"};  // in Kind's order

std::string first_line(const std::string& name) { return "fibocast discovery 1 " + name + "\n"; }

std::optional<Kind> kind_of(const std::string& word) {
  for (std::size_t i = 0; i < kKinds.size(); ++i)
    if (word == kKinds[i]) return static_cast<Kind>(i);
  return {};
}

}  // namespace

std::string write_message(const std::string& name, const DiscoveryMessage& message) {
  std::ostringstream out;
  out << first_line(name) << kKinds[static_cast<std::size_t>(message.kind)] << ' ' << std::hex << message.from
      << std::dec << ' ' << message.port << ' ' << (message.has_rank ? "member" : "stranger") << ' ' << message.host
      << '\n';
  write_list(out, message.list);
  return out.str();
}

std::optional<DiscoveryMessage> read_message(const std::string& name, std::string_view text) {
  const std::string first = first_line(name);
  if (!text.starts_with(first)) return {};
  std::istringstream in{std::string(text.substr(first.size()))};
  DiscoveryMessage message;
  std::string kind, role;
  in >> kind >> std::hex >> message.from >> std::dec >> message.port >> role >> message.host;
  const auto known = kind_of(kind);
  if (!in || !known || message.from == 0 || (role != "member" && role != "stranger")) return {};
  auto list = read_list(in);
  if (!list) return {};
  message.kind = *known;
  message.has_rank = role == "member";
  message.list = std::move(*list);
  return message;
}

}  // namespace fibocast

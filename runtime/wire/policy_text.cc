#include "runtime/wire/policy_text.h"

#include <charconv>

namespace fibocast {
namespace {

constexpr std::string_view kQuorumPrefix = "quorum:";

std::string read_quorum(std::string_view number, Rank members, PolicyChoice& choice) {
  Rank quorum = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), quorum);
  const bool whole = error == std::errc{} && end == number.data() + number.size() && !number.empty();
  if (!whole || 2 * std::uint64_t{quorum} <= members || quorum > members)
    return "the quorum of " + std::to_string(members) + " members is '" + std::string(number) +
           "'; allowed: " + std::to_string(members / 2 + 1) + " to " + std::to_string(members);
  choice = {GroupPolicy::kQuorum, quorum};
  return "";
}

}  // namespace

std::string read_policy(std::string_view text, Rank members, PolicyChoice& choice) {
  if (text.starts_with(kQuorumPrefix)) return read_quorum(text.substr(kQuorumPrefix.size()), members, choice);
  if (!text.empty() && text != "all" && text != "survivors")
    return "no policy '" + std::string(text) + "'; allowed: all, survivors, quorum:K with K more than half";
  choice = {text == "survivors" ? GroupPolicy::kSurvivors : GroupPolicy::kAll, 0};
  return "";
}

std::string policy_text(GroupPolicy policy, Rank quorum) {
  if (policy == GroupPolicy::kQuorum) return std::string(kQuorumPrefix) + std::to_string(quorum);
  return policy == GroupPolicy::kSurvivors ? "survivors" : "all";
}

}  // namespace fibocast

#include "runtime/daemon/group_messages.h"

#include <set>

#include "collectives/given_tree.h"
#include "collectives/tree_catalog.h"
#include "runtime/wire/client_status.h"
#include "runtime/wire/policy_text.h"
#include "runtime/wire/rank_text.h"

namespace fibocast {
namespace {

constexpr std::uint64_t kLargestLatency = 3'600'000'000'000;  // an hour in ns

std::string read_tree(const client::TreeSpec& wanted, TreeSpec& spec) {
  const TreeParameters parameters{.s = wanted.s() > 0 ? wanted.s() : spec.s, .r = wanted.s() > 0 ? wanted.r() : spec.r};
  if (parameters.s > kLargestLatency || parameters.r > kLargestLatency)
    return "s and r of the tree are too large; allowed: at most an hour in ns";
  std::string error;
  const auto choice = choose_tree(wanted.name(), parameters, error);
  if (!choice) return error;
  if (!choice->spec) return "a daemon cannot run the tree '" + wanted.name() + "'; it is for `fibocast plan` only";
  spec = *choice->spec;
  return "";
}

}  // namespace

std::optional<Node::GroupInfo> find_group_info(const Node& node, GroupId id) {
  for (std::uint32_t i = 0; i < node.group_count(); ++i)
    if (node.group_info(i).id == id) return node.group_info(i);
  return {};
}

bool went_on_without(const Node& node, GroupId group, Verdict verdict) {
  if (verdict != Verdict::kStale && verdict != Verdict::kPartitioned) return false;
  const auto info = find_group_info(node, group);
  return info && info->policy != GroupPolicy::kAll;
}

void name_refused(const Node& node, std::string_view group, const CallDone& done, client::Status& status) {
  if (done.verdict != Verdict::kDeadlineExceeded && done.verdict != Verdict::kPeerLost) return;
  RankSet refused;
  for (std::uint32_t i = 0; i < node.group_count(); ++i) {
    const Node::GroupInfo info = node.group_info(i);
    if (info.name != group) continue;
    for (std::uint32_t k = 0; k < done.ranks.size(); ++k)
      if (const Rank rank = done.ranks.at(k); node.peer_state(info.members.at(rank)) == ChannelState::kRefused)
        refused.add(rank);
  }
  if (refused.empty()) return;
  *status.mutable_sentence() += "; the daemons of ranks " + rank_text(refused) +
                                " have other settings and are refused: give all the same [cluster], [model] and "
                                "limits.transfers";
}

namespace {

void fill_slow_rank(const SlowRank& row, client::SlowRank& out) {
  out.set_rank(row.rank);
  out.set_times(row.times);
  out.set_total_ns(row.total);
  out.set_largest_ns(row.largest);
  out.set_unseen_ns(row.unseen);
}

}  // namespace

void fill_group(const std::optional<Node::GroupInfo>& info, client::Group& out) {
  if (!info) return;
  out.set_name(info->name.data(), info->name.size());
  out.set_rank(info->rank);
  out.set_size(info->members.size());
  out.set_participants(info->participants);
  out.set_routers(info->routers);
  out.set_next_generation(info->next_generation);
  out.set_policy(policy_text(info->policy, info->quorum));
  out.set_epoch(info->epoch), out.set_live(info->live), out.set_outside(info->outside);
  for (std::uint32_t i = 0; i < info->members.size(); ++i) out.add_ranks(info->members.at(i));
  for (const SlowRank& row : info->slowest) fill_slow_rank(row, *out.add_slowest());
}

std::string read_members(const client::CreateGroup& wanted, RankSet& members) {
  const std::set<std::uint32_t> sorted(wanted.ranks().begin(), wanted.ranks().end());
  if (sorted.empty()) return "no members; name their ranks";
  if (sorted.size() != static_cast<std::size_t>(wanted.ranks_size())) return "a rank is named twice; name each once";
  for (const std::uint32_t rank : sorted)
    if (!members.add(rank))
      return "too scattered members; allowed: at most " + std::to_string(RankSet::kMaxRuns) + " runs of ranks";
  return "";
}

std::string read_plan(const client::CreateGroup& wanted, GroupPlanner& planner, Plan& plan,
                      std::vector<TreeTableEntry>& table) {
  if (wanted.routers() >= static_cast<Rank>(wanted.ranks_size()))
    return "so many routers leave no participants; allowed: fewer than its ranks";
  const Rank ranks = static_cast<Rank>(wanted.ranks_size()) - wanted.routers();
  // Trees can be made anew for any number of ranks.
  const bool shrinks = !wanted.policy().empty() && wanted.policy() != "all";
  const bool named = shrinks || wanted.has_reduction() || wanted.has_distribution() || wanted.has_tree();
  plan = named ? planner.trees() : planner.plan(ranks);
  if (wanted.segment_bytes() > 0) plan.segment_bytes = wanted.segment_bytes();
  std::string mistake;
  if (wanted.has_reduction()) mistake = read_tree(wanted.reduction(), plan.reduction);
  if (mistake.empty() && wanted.has_distribution()) mistake = read_tree(wanted.distribution(), plan.distribution);
  if (!mistake.empty() || !wanted.has_tree()) return mistake;
  if (!wanted.has_reduction()) plan.reduction.kind = TreeKind::kGiven;
  if (!wanted.has_distribution()) plan.distribution.kind = TreeKind::kGiven;
  const client::GivenTree& tree = wanted.tree();
  return give_tree({tree.parents().data(), static_cast<std::size_t>(tree.parents_size())},
                   {tree.order().data(), static_cast<std::size_t>(tree.order_size())}, ranks, table, plan);
}

std::string read_plan(const client::PlanGroup& wanted, const Node::GroupInfo& group, GroupPlanner& planner,
                      Plan& plan) {
  client::CreateGroup as_created;
  for (std::uint32_t i = 0; i < group.members.size(); ++i) as_created.add_ranks(group.members.at(i));
  as_created.set_routers(group.routers);
  as_created.set_policy(policy_text(group.policy, group.quorum));
  as_created.set_segment_bytes(wanted.segment_bytes());
  if (wanted.has_reduction()) *as_created.mutable_reduction() = wanted.reduction();
  if (wanted.has_distribution()) *as_created.mutable_distribution() = wanted.distribution();
  std::vector<TreeTableEntry> no_table;
  return read_plan(as_created, planner, plan, no_table);
}

void describe_plan_ready(std::string_view name, const CallDone& done, client::Status& status) {
  set_status(code_of(done.verdict), "", status);
  if (done.verdict == Verdict::kOk) return;
  for (std::uint32_t i = 0; i < done.ranks.size(); ++i) status.add_ranks(done.ranks.at(i));
  status.set_sentence(
      "group '" + std::string(name) +
      "': keeps its plan; not reached, without room for the new one, or of a version that does not know it: " +
      rank_text(done.ranks) + "; see `fibocast status`, and repeat it when all members are there");
}

void describe_group_ready(std::string_view name, const CallDone& done, client::Status& status) {
  set_status(code_of(done.verdict), "", status);
  if (done.verdict == Verdict::kOk) return;
  if (done.verdict == Verdict::kCancelled)
    return status.set_sentence("group '" + std::string(name) +
                               "': removed by another rank before all members had it; create it again if it is wanted");
  for (std::uint32_t i = 0; i < done.ranks.size(); ++i) status.add_ranks(done.ranks.at(i));
  if (done.verdict == Verdict::kMismatch)
    return status.set_sentence("group '" + std::string(name) + "': refused by ranks: " + rank_text(done.ranks) +
                               "; their daemons are of a version that does not know its plan or policy: bring all to "
                               "one version, or create it at the oldest");
  const bool refused = done.verdict == Verdict::kRefused;
  status.set_sentence("group '" + std::string(name) +
                      "': " + (refused ? "refused by ranks: " : "not acknowledged by ranks: ") + rank_text(done.ranks) +
                      (refused ? "; they have another group of this name, or no room: take another name"
                               : "; start their daemons and create it again"));
}

}  // namespace fibocast

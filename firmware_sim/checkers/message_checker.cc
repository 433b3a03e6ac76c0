#include <deque>

#include "firmware_sim/checkers/checkers.h"

namespace fibocast {

Findings check_messages(const History& history) {
  using Flow = std::tuple<NodeId, NodeId, std::uint64_t>;  // from, to, tag
  std::map<Flow, std::deque<Fingerprint>> under_way;
  Findings findings;
  for (const Record& r : history.records) {
    if (r.kind == Record::Kind::kSent) under_way[{r.node, r.peer, r.tag}].push_back(r.payload);
    if (r.kind != Record::Kind::kReceived) continue;
    std::deque<Fingerprint>& expected = under_way[{r.peer, r.node, r.tag}];
    if (expected.empty()) {
      findings.push_back(describe(history, r) + "received a message too many");
      continue;
    }
    if (!(expected.front() == r.payload))
      findings.push_back(describe(history, r) + "another message than the next one of this source and tag");
    expected.pop_front();
  }
  for (const auto& [flow, left] : under_way)
    if (!left.empty())
      findings.push_back(std::to_string(left.size()) + " messages from " + std::to_string(std::get<0>(flow)) + " to " +
                         std::to_string(std::get<1>(flow)) + " tag " + std::to_string(std::get<2>(flow)) +
                         " never arrived");
  return findings;
}

}  // namespace fibocast

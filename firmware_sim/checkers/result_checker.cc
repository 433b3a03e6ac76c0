#include "firmware_sim/checkers/checkers.h"

namespace fibocast {

Findings check_results(const History& history) {
  std::map<std::tuple<GenerationKey, NodeId, std::uint32_t>, Fingerprint> expected;
  Findings findings;
  for (const Record& r : history.records) {
    if (r.operation == Operation::kBarrier || r.operation == Operation::kMulticast) continue;
    const std::tuple key{GenerationKey{r.group, r.generation}, r.node, r.participant};
    if (r.kind == Record::Kind::kArrived) expected[key] = r.expected;
    if (r.kind == Record::Kind::kDone && r.verdict == Verdict::kOk && !(expected[key] == r.result))
      findings.push_back(describe(history, r) + "another result than the reference: " + std::to_string(r.result.size) +
                         " bytes for " + std::to_string(expected[key].size));
  }
  return findings;
}

}  // namespace fibocast

#include <set>

#include "firmware_sim/checkers/checkers.h"

namespace fibocast {
namespace {

bool is_sender(const History& history, const Record& r) { return history.groups[r.group].members[r.root] == r.node; }

}  // namespace

Findings check_multicast(const History& history) {
  std::map<GenerationKey, Fingerprint> sent;
  std::set<std::tuple<GenerationKey, NodeId, std::uint32_t>> received;
  Findings findings;
  for (const Record& r : history.records) {
    if (r.kind == Record::Kind::kCrashed)
      std::erase_if(received, [&r](const auto& entry) { return std::get<1>(entry) == r.node; });
    if (r.operation != Operation::kMulticast) continue;
    const GenerationKey key{r.group, r.generation};
    // Who does not number its calls sends the same each time.
    const GenerationKey source{r.group, history.groups[r.group].numbered ? r.generation : kUnknownGeneration};
    if (r.kind == Record::Kind::kArrived && is_sender(history, r)) sent[source] = r.payload;
    if (r.kind != Record::Kind::kDone || r.verdict != Verdict::kOk || is_sender(history, r)) continue;
    if (!received.insert({key, r.node, r.participant}).second)
      findings.push_back(describe(history, r) + "received the same multicast twice");
    if (!sent.contains(source))
      findings.push_back(describe(history, r) + "received what nobody had sent yet");
    else if (!(sent[source] == r.payload))
      findings.push_back(describe(history, r) + "torn payload: " + std::to_string(r.payload.size) + " bytes of " +
                         std::to_string(sent[source].size));
  }
  return findings;
}

}  // namespace fibocast

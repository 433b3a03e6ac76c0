#include "firmware_sim/checkers/checkers.h"

namespace fibocast {

std::string describe(const History& history, const Record& record) {
  const std::string time = "at " + std::to_string(record.at) + " ns node " + std::to_string(record.node);
  if (record.kind == Record::Kind::kSent || record.kind == Record::Kind::kReceived)
    return time + " peer " + std::to_string(record.peer) + " tag " + std::to_string(record.tag) + ": ";
  return time + " participant " + std::to_string(record.participant) + " group " + history.groups[record.group].name +
         " generation " + std::to_string(record.generation) + ": ";
}

Faults check_all(const History& history) {
  Faults all;
  for (auto* check : {check_release, check_multicast, check_messages, check_generation_order, check_liveness,
                      check_verdicts, check_success, check_leaks})
    for (std::string& fault : check(history)) all.push_back(std::move(fault));
  return all;
}

}  // namespace fibocast

#include "firmware_sim/simulate/troubled_answer.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "collectives/schedule.h"
#include "firmware_sim/simulate/answer.h"

namespace fibocast {
namespace {

using Json = nlohmann::ordered_json;

// As the library's codes are called.
const char* verdict_text(Verdict verdict) {
  constexpr std::array kNames = {"NO_ANSWER", "OK",    "DEADLINE_EXCEEDED", "PEER_LOST",   "CANCELLED",
                                 "MISMATCH",  "STALE", "REFUSED",           "PARTITIONED", "PEER_LOST"};
  return kNames[static_cast<std::size_t>(verdict)];
}

bool all_ok(const TroubledRun& run) {
  return std::ranges::all_of(run.ranks, [](const TroubledRank& r) { return r.verdict == Verdict::kOk; });
}

Nanoseconds completion(const TroubledRun& run) {
  return std::ranges::max_element(run.ranks, {}, &TroubledRank::activated)->activated;
}

std::string in_words(Nanoseconds time) { return time_text(Rational(static_cast<std::uint64_t>(time))); }

// "6 OK, 2 DEADLINE_EXCEEDED".
std::string counted(const TroubledRun& run) {
  std::map<Verdict, std::size_t> count;
  for (const TroubledRank& r : run.ranks) ++count[r.verdict];
  std::string text;
  for (const auto& [verdict, ranks] : count)
    text += (text.empty() ? "" : ", ") + std::to_string(ranks) + ' ' + verdict_text(verdict);
  return text;
}

std::string rank_text(Rank rank, const TroubledRank& r) {
  std::string text = "  rank " + std::to_string(rank) + ": " + verdict_text(r.verdict);
  if (r.verdict == Verdict::kPending) return text + "\n";
  text += (r.verdict == Verdict::kOk ? ", active at " : " at ");
  text += in_words(r.verdict == Verdict::kOk ? r.activated : r.answered);
  for (std::size_t i = 0; i < r.missing.size(); ++i) {
    text += i == 0 ? ", missing " : ",";
    text += std::to_string(r.missing[i]);
  }
  return text + "\n";
}

}  // namespace

Json troubled_json(const Experiment& experiment, const std::vector<Fault>& faults, const TroubledRun& run) {
  Json verdicts = Json::array(), active = Json::array(), answered = Json::array(), missing = Json::array();
  for (const TroubledRank& r : run.ranks) {
    verdicts.push_back(verdict_text(r.verdict));
    active.push_back(r.verdict == Verdict::kOk ? Json(r.activated) : Json());
    answered.push_back(r.verdict == Verdict::kPending ? Json() : Json(r.answered));
    missing.push_back(r.missing);
  }
  Json json;
  json["completion_ns"] = all_ok(run) ? Json(completion(run)) : Json();
  json["verdict_of_rank"] = std::move(verdicts);
  json["activation_ns"] = std::move(active);
  json["answered_ns"] = std::move(answered);
  json["missing"] = std::move(missing);
  json["messages"] = run.messages;
  json["message_bytes"] = run.bytes;
  json["datagrams"] = run.datagrams.sent;
  json["datagrams_lost"] = run.datagrams.lost;
  json["events"] = run.events;
  Json& list = json["faults"] = Json::array();
  for (const Fault& fault : faults) list.push_back(describe(fault));
  json["deadline_ns"] = kTroubledDeadline;
  add_heading(experiment, json);
  return json;
}

std::string troubled_text(const Experiment& experiment, const std::vector<Fault>& faults, const TroubledRun& run) {
  const ExperimentRequest& request = experiment.request();
  std::string text(operation_name(request.operation));
  text += " among " + std::to_string(request.ranks) + (request.ranks == 1 ? " rank" : " ranks");
  if (request.bytes > 0) text += ", " + std::to_string(request.bytes) + " bytes";
  text += ", " + experiment.way() + " on " + request.machine.name + ": " + counted(run);
  if (all_ok(run)) text += ", " + in_words(completion(run));
  text += "\n";
  if (!request.machine.note.empty()) text += "(" + request.machine.note + ")\n";
  for (const Fault& fault : faults) text += "fault: " + describe(fault) + "\n";
  text += std::to_string(run.messages) + " messages, " + std::to_string(run.datagrams.sent) + " datagrams of which " +
          std::to_string(run.datagrams.lost) + " were lost, " + std::to_string(run.events) + " events\n";
  for (Rank rank = 0; rank < run.ranks.size(); ++rank) text += rank_text(rank, run.ranks[rank]);
  return text;
}

int exit_code(const TroubledRun& run) {
  constexpr std::array<std::pair<Verdict, int>, 4> kCodes = {
      {{Verdict::kDeadlineExceeded, 3}, {Verdict::kPeerLost, 4}, {Verdict::kPartitioned, 4}, {Verdict::kRefused, 6}}};
  for (const auto& [verdict, code] : kCodes)
    if (std::ranges::count(run.ranks, verdict, &TroubledRank::verdict) > 0) return code;
  return all_ok(run) ? 0 : 1;
}

}  // namespace fibocast

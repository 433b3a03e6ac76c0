#include "runtime/cli/calibration/calibration_answer.h"

#include <cstdio>
#include <iostream>
#include <sstream>

#include "collectives/schedule.h"

namespace fibocast {
namespace {

Json to_json(const Estimate& e) { return {{"value", e.value}, {"low", e.low}, {"high", e.high}}; }

Json to_json(const NodeCosts& costs) {
  return {{"s_ns", to_json(costs.send)},
          {"r_ns", to_json(costs.receive)},
          {"o_ns", to_json(costs.occupancy)},
          {"send_per_byte_ns", to_json(costs.send_per_byte)},
          {"receive_per_byte_ns", to_json(costs.receive_per_byte)}};
}

constexpr double kMuchStolen = 0.01;  // of the time

template <class... Values>
std::string text_of(const char* format, Values... values) {
  char text[100];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

std::string microseconds(const Estimate& e) {
  return text_of("%9.3f us   (%.3f to %.3f)", e.value / 1000, e.low / 1000, e.high / 1000);
}

std::string plain(const Estimate& e) { return text_of("%9.4f      (%.4f to %.4f)", e.value, e.low, e.high); }

std::string groups_text(const std::vector<std::vector<NodeId>>& groups) {
  std::string text;
  for (const std::vector<NodeId>& group : groups) text += (text.empty() ? "" : " | ") + ranks_text(group);
  return text;
}

void print_postal(const Calibration& c) {
  for (const PostalResult& p : c.postal) {
    if (p.one_way.value == 0) continue;
    std::cout << "  lambda by experiments 1 and 2 of the postal model, " << p.bytes
              << " bytes: " << text_of("%.3f and %.3f", p.one_way.value, p.there_and_back.value)
              << (p.disagree ? "; they DISAGREE: the network is not as this model has it\n" : "\n");
  }
}

Json to_json(const MeasuredCandidate& candidate) {
  Json json{{"algorithm", candidate.name},         {"segment_bytes", candidate.segment_bytes},
            {"predicted_ns", candidate.predicted}, {"measured_ns", candidate.measured()},
            {"error", candidate.error()},          {"repetitions", candidate.taken.size()}};
  if (!candidate.in_final.empty()) {
    json["final_ns"] = middle_mean(candidate.in_final);
    json["final_repetitions"] = candidate.in_final.size();
  }
  return json;
}

Json to_json(const Contest& contest) {
  const std::size_t preferred = contest.preferred();
  const MeasuredCandidate &chosen = contest.candidates[preferred], &by_model = contest.candidates[contest.chosen];
  Json json{{"operation", operation_name(contest.operation)},
            {"bytes", contest.bytes},
            {"chosen", chosen.name},
            {"predicted_ns", chosen.predicted},
            {"measured_ns", chosen.measured()},
            {"error", chosen.error()},
            {"best", contest.candidates[contest.best()].name},
            {"excess", to_json(contest.excess())},
            {"by_model", {{"chosen", by_model.name}, {"excess", to_json(contest.excess_of_model())}}},
            {"candidates", Json::array()}};
  for (const MeasuredCandidate& c : contest.candidates)
    if (!c.taken.empty()) json["candidates"].push_back(to_json(c));
  return json;
}

std::string excess_text(const Estimate& excess) {
  return text_of("%+.1f %% (%.1f to %.1f)", 100 * excess.value, 100 * excess.low, 100 * excess.high);
}

void print_contest(const Contest& contest) {
  const std::size_t preferred = contest.preferred();
  const MeasuredCandidate& chosen = contest.candidates[preferred];
  std::cout << "  " << operation_name(contest.operation);
  if (contest.operation != Operation::kBarrier) std::cout << " of " << contest.bytes << " bytes";
  std::cout << ": " << chosen.name
            << text_of(", predicted %.1f us, measured %.1f us, error %+.1f %%\n", chosen.predicted / 1000,
                       chosen.measured() / 1000, 100 * chosen.error());
  if (contest.candidates.size() == 1) return;
  std::cout << "    in a final with " << contest.candidates[contest.rival()].name << " behind the best by "
            << excess_text(contest.excess());
  if (preferred != contest.chosen)
    std::cout << "; what the model alone would take, " << contest.candidates[contest.chosen].name << ", by "
              << excess_text(contest.excess_of_model());
  std::cout << "\n    all:";
  for (const MeasuredCandidate& c : contest.candidates)
    if (!c.taken.empty()) std::cout << " " << c.name << text_of(" %.0f", c.measured() / 1000);
  std::cout << "\n";
}

}  // namespace

Json to_json(const CalibrationReport& report) {
  const Calibration& c = report.calibration;
  Json json{{"nodes", c.nodes.size()}, {"repetitions", report.repetitions},    {"seconds", report.seconds},
            {"scale", report.scale},   {"clock_bound_ns", report.clock_bound}, {"model", to_json(c.model)}};
  json["model"]["l_ns"] = to_json(c.latency);
  json["model"]["lambda"] = to_json(c.lambda);
  if (c.shared_host) {
    json["model"]["wake_ns"] = to_json(c.wake);
    json["model"]["processors"] = c.processors;
    json["fit_error"] = c.fit_error;
  }
  for (const PostalResult& p : c.postal)
    json["postal"].push_back({{"bytes", p.bytes},
                              {"lambda_1", to_json(p.one_way)},
                              {"lambda_2", to_json(p.there_and_back)},
                              {"disagree", p.disagree}});
  for (const NodeCosts& node : c.nodes) json["per_node"].push_back(to_json(node));
  json["stolen_seconds"] = report.stolen;
  json["types"] = c.types;
  json["hosts"] = c.hosts;
  json["unidentified"] = c.unidentified;
  json["outliers"] = c.outliers;
  json["late"] = c.late;
  for (const Contest& contest : report.contests) json["checks"].push_back(to_json(contest));
  return json;
}

void print_text(const CalibrationReport& report) {
  const Calibration& c = report.calibration;
  std::cout << "Measured " << c.nodes.size() << " nodes in " << text_of("%.1f", report.seconds) << " s, "
            << report.repetitions << " repetitions; in brackets where 95 % lie\n\n"
            << "  s   a sender is busy         " << microseconds(c.model.send) << "\n"
            << "  r   from then to active      " << microseconds(c.model.receive) << "\n"
            << "  o   ... of which it is busy  " << microseconds(c.model.occupancy) << "\n"
            << "  l   ... and on the wire      " << microseconds(c.latency) << "\n"
            << "  s   per byte, in ns          " << plain(c.model.send_per_byte) << "\n"
            << "  r   per byte, in ns          " << plain(c.model.receive_per_byte) << "\n"
            << "  lambda = 1 + r / s           " << plain(c.lambda) << "\n";
  if (c.shared_host)
    std::cout << "  waking a node that waited    " << microseconds(c.wake) << "\n"
              << "  processors that nodes share  " << text_of("%5u\n", c.processors)
              << "  these explain operations to  " << text_of("%9.1f %%\n", 100 * c.fit_error);
  print_postal(c);
  if (c.types.size() > 1) std::cout << "  nodes of like costs: " << groups_text(c.types) << "\n";
  if (c.hosts.size() > 1) std::cout << "  nodes near each other: " << groups_text(c.hosts) << "\n";
  std::cout << "\nWhat all nodes take from then on, and how long that takes\n\n";
  for (const Contest& contest : report.contests) print_contest(contest);
  std::cout << "\n";
  for (const std::string& sentence : c.unidentified) std::cout << "Not identified - " << sentence << ".\n";
  std::cout << c.outliers << " values were far from their median; " << c.late
            << " repetitions came late and were taken again.\n";
  if (report.stolen > kMuchStolen * report.seconds)
    std::cout << "Other virtual machines had this host's processors for " << text_of("%.1f", report.stolen)
              << " s meanwhile: measure again when it is quiet.\n";
  if (report.clock_bound > 0)
    std::cout << "Times of other hosts are right to within "
              << text_of("%.1f us.\n", double(report.clock_bound) / 1000);
}

std::string model_file(const NodeModel& model, std::size_t nodes) {
  std::ostringstream out;
  out << "# Measured by fibocast calibrate on " << nodes << " nodes\n[model]\n"
      << "s_ns = " << model.s << "\nl_ns = " << model.l << "\no_ns = " << model.o
      << "\nsend_per_byte_ns = " << model.send_per_byte << "\nreceive_per_byte_ns = " << model.receive_per_byte
      << "\nprocessors = " << model.processors << "\nwake_ns = " << model.wake << "\n";
  if (!model.measured.empty()) out << "measured = \"" << model.measured << "\"\n";
  return out.str();
}

}  // namespace fibocast

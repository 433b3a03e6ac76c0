#include "runtime/cli/plan_why_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <utility>

#include "runtime/cli/plan_costs.h"

namespace fibocast {
namespace {

using Json = nlohmann::ordered_json;

// One decimal place.
double rounded(double percent) { return std::round(percent * 10) / 10; }

std::string percent_text(double percent) {
  std::ostringstream out;
  out << rounded(percent) << " %";
  return std::move(out).str();
}

std::string chain_sentence(const WhyHeading& h, const Candidate& c) {
  const std::uint64_t chain = c.forecast.rounds * h.one_message;
  const std::string rounds = std::to_string(c.forecast.rounds);
  std::string text = "its longest chain is " + rounds + " messages, each waiting for the one before: " + rounds +
                     " x " + h.human(h.one_message) + " = " + h.human(chain);
  const std::uint64_t rest = c.predicted - std::min(c.predicted, chain);
  if (rest > 0)
    text += "; the other " + h.human(rest) + " are bytes, and waiting for " +
            (h.hosts.nodes > 1 ? "processors and until nodes are woken" : "busy ports");
  return text + ".";
}

std::string host_sentence(const WhyHeading& h, const Candidate& c) {
  return "the messages alone of " + std::to_string(h.hosts.nodes) + " nodes on a host keep its " +
         std::to_string(h.hosts.processors) + " processors busy for " + h.human(c.host_bound) +
         "; with a processor for each node it would be " + h.human(c.forecast.completion) + ".";
}

// How it compares with others where barriers in a row are compared.
std::string row_sentence(const WhyHeading& h, const Candidate& c) {
  return "barriers follow each other, so that work counts as well: " + h.human(c.predicted) + " + " +
         h.human(c.in_a_row) + " = " + h.human(c.cost()) + ".";
}

std::string next_sentence(const WhyHeading& h, const PlanAnswer& answer) {
  const Candidate* next = nullptr;
  for (const Candidate& c : answer.candidates)
    if (&c != answer.best() && c.objection.empty() && (next == nullptr || c.cost() < next->cost())) next = &c;
  if (next == nullptr) return "nothing else can be taken.";
  std::string text = "next comes " + next->name + " with " + h.human(next->cost());
  const double more = gap_percent(next->cost(), answer.best()->cost());
  if (more == 0) return text + ", the same: of equals the first is taken.";
  return text + ", " + percent_text(more) + " more.";
}

std::string bound_sentence(const WhyHeading& h, const PlanAnswer& answer) {
  const LowerBound& bound = answer.bound;
  std::string text =
      "no schedule takes less than " + h.human(bound.ticks) + " = " + bound.formula + ": " + bound.reason + "; ";
  const double gap = gap_percent(answer.best()->predicted, bound.ticks);
  if (gap == 0) return text + "the choice takes exactly that: it is optimal.";
  return text + "the choice takes " + percent_text(gap) + " more.";
}

Json json_of(const WhyHeading& h, const Candidate& c) {
  Json json = {{"algorithm", c.name}};
  if (!c.objection.empty()) return json.update({{"predicted", nullptr}, {"objection", c.objection}}), json;
  json["predicted"] = h.number(c.predicted);
  json["messages"] = c.forecast.messages;
  json["rounds"] = c.forecast.rounds;
  json["segment_bytes"] = c.segment_bytes;
  json["busiest_bytes"] = c.busiest_bytes;
  if (h.hosts.nodes > 1) json["host_bound"] = h.number(c.host_bound);
  return json;
}

std::string row(const WhyHeading& h, const Candidate& c, bool chosen) {
  char line[256];
  const char mark = chosen ? '*' : ' ';
  if (!c.objection.empty()) {
    std::snprintf(line, sizeof line, "%c %-22s ", mark, c.name.c_str());
    return line + c.objection + "\n";
  }
  std::string name = c.name;
  if (c.segment_bytes > 0) name += "/" + std::to_string(c.segment_bytes);
  std::snprintf(line, sizeof line, "%c %-22s %14s %10llu %7u %14llu\n", mark, name.c_str(),
                h.human(c.predicted).c_str(), static_cast<unsigned long long>(c.forecast.messages), c.forecast.rounds,
                static_cast<unsigned long long>(c.busiest_bytes));
  return line;
}

}  // namespace

std::string WhyHeading::human(std::uint64_t ticks) const { return to_human(tick * Rational(ticks), is_time); }
Json WhyHeading::number(std::uint64_t ticks) const { return to_json(tick * Rational(ticks)); }

std::vector<std::string> explain(const WhyHeading& h, const PlanAnswer& answer) {
  const Candidate& c = *answer.best();
  std::vector<std::string> lines;
  lines.push_back(c.name + " is the " + (c.in_a_row > 0 ? "best" : "fastest") + " of " +
                  std::to_string(answer.candidates.size()) + " candidates: " + h.human(c.predicted) + ".");
  if (c.forecast.reduced > 0 && c.forecast.completion > c.forecast.reduced)
    lines.push_back("the root has heard of all ranks after " + h.human(c.forecast.reduced) +
                    ", and all ranks of that " + h.human(c.forecast.completion - c.forecast.reduced) + " later.");
  if (c.segment_bytes > 0)
    lines.push_back("the payload is cut into segments of " + std::to_string(c.segment_bytes) +
                    " bytes, which follow each other down the tree.");
  if (h.one_message > 0 && c.forecast.rounds > 0) lines.push_back(chain_sentence(h, c));
  if (h.hosts.nodes > 1) lines.push_back(host_sentence(h, c));
  if (c.in_a_row > 0) lines.push_back(row_sentence(h, c));
  lines.push_back(next_sentence(h, answer));
  lines.push_back(bound_sentence(h, answer));
  if (!h.measured.empty())
    lines.push_back("daemons with this file take " + h.measured +
                    ": it was the fastest when that was measured (fibocast calibrate).");
  return lines;
}

Json why_json(const WhyHeading& h, const PlanAnswer& answer) {
  Json json = {{"operation", h.operation}, {"ranks", h.ranks}, {"bytes", h.bytes}, {"model", h.model}};
  if (h.hosts.nodes > 1)
    json.update({{"colocated", h.hosts.nodes}, {"processors", h.hosts.processors}, {"fans_out", h.hosts.fans_out}});
  if (h.is_time) json["unit"] = "ns";
  json["candidates"] = Json::array();
  for (const Candidate& c : answer.candidates) json["candidates"].push_back(json_of(h, c));
  if (!h.measured.empty()) json["measured"] = h.measured;
  json["chosen"] = answer.best() ? Json(answer.best()->name) : Json();
  json["lower_bound"] = {
      {"predicted", h.number(answer.bound.ticks)}, {"formula", answer.bound.formula}, {"reason", answer.bound.reason}};
  if (answer.best() == nullptr) return json;
  const double gap = gap_percent(answer.best()->predicted, answer.bound.ticks);
  json["gap_percent"] = std::isfinite(gap) ? Json(rounded(gap)) : Json();
  json["why"] = explain(h, answer);
  return json;
}

std::string why_text(const WhyHeading& h, const PlanAnswer& answer) {
  std::ostringstream out;
  out << h.operation << " among " << h.ranks << " ranks, " << h.bytes << " bytes; " << h.model_text << "\n\n";
  char line[128];
  std::snprintf(line, sizeof line, "  %-22s %14s %10s %7s %14s\n", "algorithm", "predicted", "messages", "rounds",
                "busiest node B");
  out << line;
  for (const Candidate& c : answer.candidates) out << row(h, c, &c == answer.best());
  out << '\n';
  if (answer.best() == nullptr) return out.str() + "no algorithm can be taken.\n";
  for (const std::string& sentence : explain(h, answer)) out << sentence << '\n';
  return std::move(out).str();
}

}  // namespace fibocast

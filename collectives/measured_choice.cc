#include "collectives/measured_choice.h"

#include <charconv>
#include <sstream>

#include "collectives/algorithm_catalog.h"
#include "collectives/plan.h"
#include "collectives/schedule.h"

namespace fibocast {
namespace {

constexpr const char* kForm = "is not OPERATION,RANKS,BYTES=ALGORITHM, as in barrier,16,0=sequential";

template <class Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  return wrong == std::errc() && end == text.data() + text.size() && !text.empty();
}

// Up to the separator, which is taken off as well.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t at = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

std::optional<MeasuredChoice> parse_one(std::string_view text, std::string& error) {
  MeasuredChoice measured;
  std::string_view rest = text;
  const auto operation = operation_by_name(take_until(rest, ','));
  const std::string_view ranks = take_until(rest, ','), bytes = take_until(rest, '=');
  if (!operation || is_of_shares(*operation) || !parse_number(ranks, measured.ranks) || measured.ranks < 1 ||
      !parse_number(bytes, measured.bytes)) {
    error = std::string(text) + " " + kForm;
    return {};
  }
  measured.operation = *operation;
  const auto choice = choose_algorithm(*operation, rest, error);
  if (!choice) return {};
  measured.choice = *choice;
  return measured;
}

}  // namespace

std::string to_text(std::span<const MeasuredChoice> choices) {
  std::string text;
  for (const MeasuredChoice& c : choices)
    text += (text.empty() ? "" : " ") + std::string(operation_name(c.operation)) + "," + std::to_string(c.ranks) + "," +
            std::to_string(c.bytes) + "=" + algorithm_name(c.operation, c.choice);
  return text;
}

std::optional<std::vector<MeasuredChoice>> parse_measured_choices(std::string_view text, std::string& error) {
  std::vector<MeasuredChoice> choices;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    const auto measured = parse_one(word, error);
    if (!measured) return {};
    if (choices.size() == kMostMeasuredChoices) {
      error = "there are more than " + std::to_string(kMostMeasuredChoices) + " measured choices";
      return {};
    }
    choices.push_back(*measured);
  }
  return choices;
}

const MeasuredChoice* find_measured(std::span<const MeasuredChoice> choices, Operation operation, Rank ranks,
                                    std::uint64_t bytes) {
  for (const MeasuredChoice& c : choices)
    if (c.operation == operation && c.ranks == ranks && size_class(c.bytes) == size_class(bytes)) return &c;
  return nullptr;
}

}  // namespace fibocast

#include "runtime/cli/plan_costs.h"

#include <array>
#include <stdexcept>
#include <utility>

namespace fibocast {
namespace {

// Reads one cost after the other and remembers what was wrong first.
class Reader {
 public:
  Rational read(const char* option, const std::string& text) {
    const auto quantity = parse_quantity(text);
    if (!quantity) {
      fail(std::string(option) + " " + text + " is no cost: write 9/5, 1.8 or 27us");
      return 0;
    }
    // 0 needs no unit.
    if (quantity->value != Rational(0)) {
      if (is_time_ && *is_time_ != quantity->is_time) fail("give all costs with a unit or all without");
      is_time_ = quantity->is_time;
    }
    return quantity->value;
  }
  void fail(std::string sentence) {
    if (error_.empty()) error_ = std::move(sentence);
  }
  bool is_time() const { return is_time_.value_or(false); }
  const std::string& error() const { return error_; }

 private:
  std::optional<bool> is_time_;
  std::string error_;
};

ExactCosts read_lambda(const CostOptions& options, Reader& reader) {
  if (!options.s.empty() || !options.r.empty() || !options.l.empty() || !options.o.empty())
    reader.fail("give either --lambda or --s with --r (or --l and --o)");
  const Rational lambda = reader.read("--lambda", options.lambda);
  if (reader.is_time()) reader.fail("--lambda is a ratio and has no unit");
  if (lambda < Rational(1)) {
    reader.fail("--lambda must be at least 1");
    return {};
  }
  return {.send = 1, .latency = 0, .occupancy = lambda - Rational(1)};
}

ExactCosts read_latencies(const CostOptions& options, Reader& reader) {
  const bool split = !options.l.empty() || !options.o.empty();
  if (options.s.empty() || (options.r.empty() && !split))
    reader.fail("costs are --s with --r (or --l and --o), or --lambda");
  if (split && !options.r.empty()) reader.fail("give either --r or --l and --o: r = l + o");
  if (!reader.error().empty()) return {};
  ExactCosts costs;
  costs.send = reader.read("--s", options.s);
  costs.latency = options.l.empty() ? Rational(0) : reader.read("--l", options.l);
  costs.occupancy = Rational(0);
  if (!options.o.empty()) costs.occupancy = reader.read("--o", options.o);
  if (!split) costs.occupancy = reader.read("--r", options.r);
  if (costs.send == Rational(0)) reader.fail("--s must be greater than 0");
  return costs;
}

ExactCosts read_costs(const CostOptions& options, Reader& reader) {
  if (options.empty()) return {.send = 1, .latency = 0, .occupancy = 1};
  ExactCosts costs = options.lambda.empty() ? read_latencies(options, reader) : read_lambda(options, reader);
  if (!options.c.empty()) costs.send_per_byte = reader.read("--c", options.c);
  if (!options.d.empty()) costs.occupancy_per_byte = reader.read("--d", options.d);
  if (!options.wake.empty()) costs.wake = reader.read("--wake", options.wake);
  return costs;
}

}  // namespace

void add_cost_options(CLI::App& app, CostOptions& options) {
  app.add_option("--s", options.s, "send latency: 9/5, 1.8 or 27us");
  app.add_option("--r", options.r, "receive latency");
  app.add_option("--l", options.l, "wire latency, the first part of r = l + o");
  app.add_option("--o", options.o, "receive occupancy, the second part of r = l + o");
  app.add_option("--lambda", options.lambda, "instead: s = 1, r = lambda - 1 (postal model)");
}

void add_byte_cost_options(CLI::App& app, CostOptions& options) {
  app.add_option("--c", options.c, "cost per byte at the sender: 3ns, or without a unit as the other costs");
  app.add_option("--d", options.d, "cost per byte at the receiver");
}

std::optional<Costs> parse_costs(const CostOptions& options, Ports ports, std::string& error) {
  Reader reader;
  try {
    const TickedModel ticked = in_ticks(read_costs(options, reader), ports);
    const CostModel& m = ticked.model;
    if (m.latency > kMaxLatency || m.occupancy > kMaxLatency || !are_latencies_valid(m.send, m.receive()))
      reader.fail("the costs are too large or have too many digits");
    if (reader.error().empty()) return Costs{ticked, reader.is_time()};
  } catch (const std::overflow_error&) {
    reader.fail("the costs are too large or have too many digits");
  }
  error = reader.error();
  return {};
}

nlohmann::ordered_json to_json(const Rational& value) {
  if (value.is_integer()) return value.numerator();
  const std::string text = value.to_decimal_string();
  // A double keeps 15 digits.
  if (text.find('/') == std::string::npos && text.size() <= 16) return std::stod(text);
  return value.to_string();
}

std::string to_human(const Rational& value, bool is_time) {
  if (!is_time) return value.to_decimal_string();
  constexpr std::array<std::pair<const char*, std::uint64_t>, 3> kUnits = {
      {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}}};
  for (const auto& [name, nanoseconds] : kUnits)
    if (value >= Rational(nanoseconds)) return (value / nanoseconds).to_decimal_string() + " " + name;
  return value.to_decimal_string() + " ns";
}

}  // namespace fibocast

// fibocast plan combine: the rounds of the postal global combine, for any number of ranks and any lambda.
#include <algorithm>
#include <iostream>
#include <memory>
#include <ostream>

#include "collectives/models/postal_delay.h"
#include "collectives/models/postal_partition.h"
#include "collectives/postal_combine.h"
#include "runtime/cli/plan_answer.h"
#include "runtime/cli/plan_command.h"

namespace fibocast {
namespace {

using Json = nlohmann::ordered_json;

// What the options mean.
struct CombineAnswer {
  Rational lambda;
  std::string scheme;  // "exact" for an integer lambda
  CombineTimes times;
  CombineClock clock;
  PostalCombine combine;
  std::uint64_t ticks_per_send = 1;

  Rational round_length() const { return Rational(clock.numerator, clock.denominator) / ticks_per_send; }
  Rational time() const { return round_length() * combine.time(); }
};

std::uint64_t sending_rounds(const PostalCombine& combine) {
  std::uint64_t count = 0;
  for (auto round = combine.next_round(0); round; round = combine.next_round(round->round)) ++count;
  return count;
}

CombineDelay delay_of(const std::string& scheme, const CombineTimes& times) {
  if (scheme == "delay-receive") return CombineDelay::kReceive;
  if (scheme == "delay-send") return CombineDelay::kSend;
  return times.delay_send < times.delay_receive ? CombineDelay::kSend : CombineDelay::kReceive;
}

std::string name_of(CombineDelay delay) { return delay == CombineDelay::kSend ? "delay-send" : "delay-receive"; }

std::optional<CombineAnswer> work_out(const PlanCombineOptions& options, std::string& error) {
  const auto lambda = parse_quantity(options.lambda);
  if (!lambda || lambda->is_time) {
    error = "--lambda " + options.lambda + " is no ratio: write 9/5 or 1.8";
    return {};
  }
  if (options.ranks < 1 || options.ranks >= kNoRank) {
    error = "--ranks must be 1 to " + std::to_string(kNoRank - 1);
    return {};
  }
  const auto latencies = postal_latencies(lambda->value, error);
  if (!latencies) return {};
  const CombineTimes times = combine_times(options.ranks, *latencies);
  const CombineDelay delay = delay_of(options.scheme, times);
  const auto clock = combine_clock(latencies->s, latencies->r, delay);
  const auto combine = clock ? PostalCombine::make(static_cast<Rank>(options.ranks), clock->lambda) : std::nullopt;
  if (!combine) {
    error = "the combine would take more than " + std::to_string(kMostCombineRounds) +
            " rounds of sending, or lambda is too large: take fewer ranks or a smaller lambda";
    return {};
  }
  const std::string scheme = lambda->value.is_integer() ? "exact" : name_of(delay);
  return CombineAnswer{lambda->value, scheme, times, *clock, *combine, latencies->s};
}

Json rounds_json(const CombineAnswer& answer) {
  Json rounds = Json::array();
  for (std::uint32_t q = 1; q <= answer.combine.rounds(); ++q) {
    const CombineRound round = answer.combine.round(q);
    rounds.push_back({{"round", q},
                      {"starts", to_json(answer.round_length() * (q - 1))},
                      {"sends", round.sends_s ? "S" : "T"},
                      {"count", round.count},
                      {"offset", round.offset}});
  }
  return rounds;
}

void print_json(const CombineAnswer& answer, std::ostream& out) {
  const PostalCombine& combine = answer.combine;
  Json eps = Json::array();
  Json reach = Json::array();
  for (std::uint32_t q = 1; q <= combine.rounds(); ++q) eps.push_back(combine.epsilon(q) ? 1 : 0);
  // Before the first message arrives it is 1 all the time: nothing is left out but more ones.
  const std::uint64_t first = combine.time() - combine.rounds();
  const std::uint64_t ones = std::min<std::uint64_t>(first, 1000);
  for (std::uint64_t x = first - ones; x <= combine.time(); ++x) reach.push_back(combine.reach(x));
  out << Json{{"ranks", combine.ranks()},
              {"lambda", to_json(answer.lambda)},
              {"scheme", answer.scheme},
              {"round_lambda", combine.lambda()},
              {"round_length", to_json(answer.round_length())},
              {"rounds", combine.time()},
              {"time", to_json(answer.time())},
              {"optimum", to_json(answer.times.optimum)},
              {"delay_receive", to_json(answer.times.delay_receive)},
              {"delay_send", to_json(answer.times.delay_send)},
              {"eps", eps},
              {"reach", reach},
              {"schedule", rounds_json(answer)},
              {"messages", sending_rounds(combine) * combine.ranks()}}
             .dump()
      << '\n';
}

void print_text(const CombineAnswer& answer, std::ostream& out) {
  const PostalCombine& combine = answer.combine;
  out << "combine of " << combine.ranks() << " ranks, lambda = " << answer.lambda.to_decimal_string() << " ("
      << answer.scheme << "): rounds of " << answer.round_length().to_decimal_string() << ", a message takes "
      << combine.lambda() << " of them\n\n";
  for (std::uint32_t q = 1; q <= combine.rounds(); ++q) {
    const CombineRound round = combine.round(q);
    out << "round " << q << " from " << (answer.round_length() * (q - 1)).to_decimal_string() << ": ";
    if (round.count == 0) {
      out << "nothing\n";
    } else {
      out << (round.sends_s ? 'S' : 'T') << " (" << round.count << " contributions) to rank - " << round.offset << '\n';
    }
  }
  out << "\nmessages: " << sending_rounds(combine) * combine.ranks() << "\ntime: " << answer.time().to_decimal_string()
      << " (lower bound " << answer.times.optimum.to_decimal_string() << "; delayed receives "
      << answer.times.delay_receive.to_decimal_string() << ", delayed sends "
      << answer.times.delay_send.to_decimal_string() << ")\n";
}

}  // namespace

void add_combine_command(CLI::App& plan, int& exit_code) {
  const auto options = std::make_shared<PlanCombineOptions>();
  CLI::App* app = plan.add_subcommand("combine", "The global combine of the postal model, round by round");
  app->add_option("--ranks", options->ranks, "number of ranks")->required();
  app->add_option("--lambda", options->lambda, "1 + r / s: 2, 9/5 or 1.8")->required();
  app->add_option("--scheme", options->scheme, "if lambda is no integer: best, delay-receive or delay-send")
      ->check(CLI::IsMember({"best", "delay-receive", "delay-send"}))
      ->capture_default_str();
  app->add_flag("--json", options->json, "one JSON document on stdout, nothing else there");
  app->add_flag("--quiet", options->quiet, "no progress and no remarks: there are none");
  app->footer("Example: fibocast plan combine --ranks 14 --lambda 2");
  app->callback([options, &exit_code] { exit_code = plan_combine(*options, std::cout, std::cerr); });
}

int plan_combine(const PlanCombineOptions& options, std::ostream& out, std::ostream& err) {
  return answer_or_explain(options.json, out, err, [&](std::string& error) {
    const auto answer = work_out(options, error);
    if (!answer) return 2;
    options.json ? print_json(*answer, out) : print_text(*answer, out);
    return 0;
  });
}

}  // namespace fibocast

#include "collectives/schedule.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

#include "collectives/algorithm_catalog.h"
#include "collectives/element_names.h"
#include "collectives/tree_view.h"

namespace fibocast {
namespace {

constexpr std::array<std::pair<Operation, std::string_view>, kOperations> kNames = {
    {{Operation::kBarrier, "barrier"},
     {Operation::kMulticast, "multicast"},
     {Operation::kReduce, "reduce"},
     {Operation::kAllreduce, "allreduce"},
     {Operation::kScatter, "scatter"},
     {Operation::kGather, "gather"},
     {Operation::kAllgather, "allgather"},
     {Operation::kAlltoall, "alltoall"},
     {Operation::kDivide, "divide"},
     {Operation::kConquer, "conquer"}}};
constexpr std::array<std::string_view, 5> kCarries = {"token", "payload", "partial", "blocks", "bit-blocks"};
constexpr std::array<std::string_view, 4> kOnReceive = {"store", "combine-right", "combine-left", "join"};
constexpr std::array<std::string_view, 4> kRegisters = {"-", "T", "S", "TS"};

// The place of a word in a list of them.
template <std::size_t N>
bool find_word(const std::array<std::string_view, N>& words, std::istream& in, std::uint8_t& place) {
  std::string word;
  if (!(in >> word)) return false;
  const auto found = std::ranges::find(words, word);
  place = static_cast<std::uint8_t>(found - words.begin());
  return found != words.end();
}

void write_transfer(std::ostream& out, const char* direction, const Transfer& t) {
  out << "    " << direction << ' ' << t.peer << ' ' << carries_name(t.carries);
  if (t.carries == Carries::kPartial) out << ' ' << registers_name(t.registers);
  if (t.carries == Carries::kBlocks) out << ' ' << t.first_block << ' ' << t.blocks;
  if (t.carries == Carries::kBitBlocks) out << ' ' << t.first_block;
  if (t.on_receive != OnReceive::kStore) out << ' ' << on_receive_name(t.on_receive);
  out << " in stage " << int{t.stage} << '\n';
}

void write_rank(std::ostream& out, const RankPart& part, Rank rank) {
  out << "rank " << rank << '\n';
  const RankSchedule view = part.view();
  for (std::size_t i = 0; i < view.stages.size(); ++i) {
    const Stage& stage = view.stages[i];
    out << "  stage " << i << " after ";
    stage.after == kNoStage ? out << '-' : out << int{stage.after};
    out << " repeat " << stage.repeat << " not_before " << stage.not_before;
    out << (stage.waits_for_arrival ? " waits_for_arrival\n" : "\n");
    for (const Transfer& t : view.receives(stage)) write_transfer(out, "receive", t);
    for (const Transfer& t : view.sends(stage)) write_transfer(out, "send", t);
  }
}

// Reads the text form line by line. Each function returns false where the line has another form.
class Parser {
 public:
  std::optional<Schedule> parse(std::string_view text, std::string& error) {
    std::istringstream lines{std::string(text)};
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      std::istringstream words(line);
      if (!parse_line(words) || !at_end(words)) {
        error = "line " + std::to_string(number) + " of the schedule is not understood: " + line;
        return {};
      }
    }
    if (result_.shape.ranks == result_.ranks.size()) return std::move(result_);
    error = "the schedule has " + std::to_string(result_.ranks.size()) + " ranks and says " +
            std::to_string(result_.shape.ranks);
    return {};
  }

 private:
  static bool at_end(std::istream& words) {
    std::string rest;
    return !(words >> rest);
  }
  static bool expect(std::istream& words, std::string_view word) {
    std::string found;
    return words >> found && found == word;
  }

  static bool skip(std::istream& words) {
    std::string rest;
    std::getline(words, rest);
    return true;
  }

  bool parse_line(std::istream& words) {
    std::string first;
    if (!(words >> first)) return true;  // an empty line
    if (first.starts_with('#')) return skip(words);
    if (first == "schedule") return parse_shape(words);
    if (first == "rank") return parse_rank(words);
    if (first == "stage") return !result_.ranks.empty() && parse_stage(words);
    const bool in_stage = !result_.ranks.empty() && !result_.ranks.back().stages.empty();
    if (first == "receive") return in_stage && stage().sends == 0 && parse_transfer(words, stage().receives);
    if (first == "send") return in_stage && parse_transfer(words, stage().sends);
    return false;
  }

  bool parse_shape(std::istream& words) {
    std::string name;
    OperationShape& shape = result_.shape;
    if (!(words >> name) || !operation_by_name(name)) return false;
    shape.operation = *operation_by_name(name);
    return expect(words, "ranks") && words >> shape.ranks && expect(words, "bytes") && words >> shape.total_bytes &&
           expect(words, "segment") && words >> shape.segment_bytes && parse_algorithm(words) && parse_type(words);
  }

  // Of a divide or conquer, unless it is bytes.
  bool parse_type(std::istream& words) {
    std::string word, error;
    if (!is_of_shares(result_.shape.operation) || !(words >> word)) return true;
    if (word != "type" || !(words >> word)) return false;
    const auto type = element_type_by_name(word, error);
    if (type) result_.shape.type = *type;
    return type.has_value();
  }

  bool parse_algorithm(std::istream& words) {
    std::string name, error;
    if (!expect(words, "algorithm") || !(words >> name)) return false;
    const auto choice = choose_algorithm(result_.shape.operation, name, error);
    if (choice) result_.shape.choice = *choice;
    return choice.has_value();
  }

  bool parse_rank(std::istream& words) {
    Rank rank = kNoRank;
    if (!(words >> rank) || rank != result_.ranks.size()) return false;
    result_.ranks.emplace_back();
    return true;
  }

  bool parse_stage(std::istream& words) {
    RankPart& part = result_.ranks.back();
    std::size_t index = 0;
    std::string after;
    std::string waits;
    std::int64_t repeat = 0;
    Stage stage{.first_transfer = static_cast<std::uint32_t>(part.transfers.size())};
    if (!(words >> index) || index != part.stages.size() || index >= kNoStage) return false;
    if (!expect(words, "after") || !(words >> after) || !expect(words, "repeat") || !(words >> repeat)) return false;
    if (repeat < 0 || repeat > kMaxRepetitions) return false;
    stage.repeat = static_cast<std::uint32_t>(repeat);
    if (!expect(words, "not_before") || !(words >> stage.not_before)) return false;
    if (words >> waits && waits != "waits_for_arrival") return false;
    stage.waits_for_arrival = !waits.empty();
    part.stages.push_back(stage);
    return after == "-" || parse_small(after, part.stages.back().after);
  }

  bool parse_transfer(std::istream& words, std::uint32_t& count) {
    Transfer t;
    Rank peer = kNoRank;
    std::string word;
    std::uint8_t carries = 0, stage = 0;
    if (!(words >> peer) || !find_word(kCarries, words, carries)) return false;
    t.peer = peer;
    t.carries = static_cast<Carries>(carries);
    if (!parse_data(words, t) || !(words >> word)) return false;
    const auto how = std::ranges::find(kOnReceive, word);
    if (how != kOnReceive.end()) t.on_receive = static_cast<OnReceive>(how - kOnReceive.begin());
    if (how != kOnReceive.end() && !(words >> word)) return false;
    if (word != "in" || !expect(words, "stage") || !(words >> word) || !parse_small(word, stage)) return false;
    t.stage = stage;
    result_.ranks.back().transfers.push_back(t);
    ++count;
    return true;
  }

  static bool parse_data(std::istream& words, Transfer& t) {
    std::uint8_t registers = 0;
    std::uint32_t first = 0, count = 0;
    if (t.carries == Carries::kPartial && !find_word(kRegisters, words, registers)) return false;
    if (t.carries == Carries::kBlocks && !(words >> first >> count)) return false;
    if (t.carries == Carries::kBitBlocks && (!(words >> first) || first > 31)) return false;
    t.registers = registers & 3, t.first_block = first, t.blocks = count;
    return true;
  }

  static bool parse_small(const std::string& text, std::uint8_t& value) {
    unsigned number = 0;
    std::istringstream in(text);
    if (!(in >> number) || number >= kNoStage || !at_end(in)) return false;
    value = static_cast<std::uint8_t>(number);
    return true;
  }

  Stage& stage() { return result_.ranks.back().stages.back(); }

  Schedule result_;
};

}  // namespace

namespace {

// Builds one rank's schedule after the other in the same memory, which grows with need.
class PartBuilder {
 public:
  std::optional<RankPart> build(const Plan& plan, const OperationShape& shape, Rank me) {
    for (;;) {
      ScheduleWriter writer(stages_, transfers_);
      if (build_rank_schedule(plan, shape, me, writer)) return copy(writer.schedule());
      const RankSchedule cut = writer.schedule();
      if (writer.ok() || cut.transfers.size() < transfers_.size()) return {};  // more memory would not help
      if (transfers_.size() == kMostTransfers) return {};
      transfers_.resize(transfers_.size() * 2);
    }
  }

 private:
  static RankPart copy(const RankSchedule& built) {
    return {{built.stages.begin(), built.stages.end()}, {built.transfers.begin(), built.transfers.end()}};
  }
  std::vector<Stage> stages_ = std::vector<Stage>(kNoStage);
  std::vector<Transfer> transfers_ = std::vector<Transfer>(64);
};

}  // namespace

std::optional<RankPart> build_rank_part(const Plan& plan, const OperationShape& shape, Rank me) {
  return PartBuilder().build(plan, shape, me);
}

std::optional<Schedule> build_schedule(const Plan& plan, const OperationShape& shape) {
  Schedule schedule{shape, {}};
  if (shape.choice.algorithm == Algorithm::kPlanned)
    schedule.shape.choice = planned_choice(plan, shape.operation, shape.total_bytes);
  schedule.ranks.reserve(shape.ranks);
  PartBuilder builder;
  for (Rank me = 0; me < shape.ranks; ++me) {
    std::optional<RankPart> part = builder.build(plan, shape, me);
    if (!part) return {};
    schedule.ranks.push_back(std::move(*part));
  }
  return schedule;
}

std::string_view operation_name(Operation operation) {
  for (const auto& [value, name] : kNames)
    if (value == operation) return name;
  return "unknown";
}

std::optional<Operation> operation_by_name(std::string_view name) {
  for (const auto& [value, known] : kNames)
    if (known == name) return value;
  return {};
}

std::string_view carries_name(Carries carries) { return kCarries.at(static_cast<std::size_t>(carries)); }
std::string_view registers_name(std::uint8_t registers) { return kRegisters.at(registers); }
std::string_view on_receive_name(OnReceive on_receive) { return kOnReceive.at(static_cast<std::size_t>(on_receive)); }

std::string to_text(const OperationShape& shape) {
  std::ostringstream out;
  out << "schedule " << operation_name(shape.operation) << " ranks " << shape.ranks << " bytes " << shape.total_bytes
      << " segment " << shape.segment_bytes << " algorithm " << algorithm_name(shape.operation, shape.choice);
  if (is_of_shares(shape.operation) && shape.type != ElementType::kBytes)
    out << " type " << element_type_name(shape.type);
  out << '\n';
  return std::move(out).str();
}

std::string to_text(const RankPart& part, Rank rank) {
  std::ostringstream out;
  write_rank(out, part, rank);
  return std::move(out).str();
}

std::string to_text(const Schedule& schedule) {
  std::ostringstream out;
  out << to_text(schedule.shape);
  for (Rank rank = 0; rank < schedule.ranks.size(); ++rank) write_rank(out, schedule.ranks[rank], rank);
  return std::move(out).str();
}

std::optional<Schedule> parse_schedule(std::string_view text, std::string& error) {
  return Parser().parse(text, error);
}

}  // namespace fibocast

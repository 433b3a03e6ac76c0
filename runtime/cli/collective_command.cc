// fibocast reduce, allreduce, scatter, gather, allgather, alltoall, divide, conquer: one call of one rank, for scripts.
#include <charconv>
#include <cmath>
#include <cstring>
#include <iostream>
#include <type_traits>

#include "collectives/element_names.h"
#include "runtime/cli/commands.h"
#include "runtime/cli/operation_option.h"

namespace fibocast {
namespace {

struct CollectiveOptions {
  OperationChoice choice;
  Operation operation = Operation::kReduce;
  Rank root = 0;
  std::string algorithm;
  std::string type;  // empty: see type_name()
  std::string combine = "sum";
  std::string alpha;
  std::uint64_t elements = 0;
  std::vector<std::string> values;
  std::string file;
};

using Bytes = std::vector<std::byte>;

// A file is shared out byte by byte.
std::string type_name(const CollectiveOptions& o) {
  if (!o.type.empty()) return o.type;
  return is_of_shares(o.operation) && !o.file.empty() ? "bytes" : "int64";
}

template <class T>
bool append_number(const std::string& text, Bytes& out) {
  T value{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return false;
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), first, first + sizeof value);
  return true;
}

bool append(const std::string& text, ElementType type, Bytes& out) {
  switch (type) {
    case ElementType::kInt32: return append_number<std::int32_t>(text, out);
    case ElementType::kInt64: return append_number<std::int64_t>(text, out);
    case ElementType::kUint64: return append_number<std::uint64_t>(text, out);
    case ElementType::kFloat: return append_number<float>(text, out);
    case ElementType::kDouble: return append_number<double>(text, out);
    case ElementType::kBytes: break;
  }
  return false;
}

// JSON has no numbers for what is not finite.
template <class T>
Json number(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  }
  return value;
}

template <class T>
void print_numbers(const Outcome& outcome, Json& list) {
  for (const T value : outcome.values<T>()) list.push_back(number(value));
}

Json numbers(const Outcome& outcome, ElementType type) {
  Json list = Json::array();
  switch (type) {
    case ElementType::kInt32: print_numbers<std::int32_t>(outcome, list); break;
    case ElementType::kInt64: print_numbers<std::int64_t>(outcome, list); break;
    case ElementType::kUint64: print_numbers<std::uint64_t>(outcome, list); break;
    case ElementType::kFloat: print_numbers<float>(outcome, list); break;
    case ElementType::kDouble: print_numbers<double>(outcome, list); break;
    case ElementType::kBytes: break;
  }
  return list;
}

std::string text_of(const Json& number) { return number.is_string() ? number.get<std::string>() : number.dump(); }

// What the command line gives in numbers.
Result<Bytes> given(const CollectiveOptions& options, ElementType type) {
  if (!options.values.empty() && !options.file.empty())
    return Status{Code::kInvalid, "give either numbers or --file, not both", {}};
  Bytes bytes;
  for (const std::string& text : options.values)
    if (!append(text, type, bytes))
      return Status{Code::kInvalid, "\"" + text + "\" is no number of type " + type_name(options), {}};
  return bytes;
}

Status read_file(const CollectiveOptions& options, const Client& client, Duration& deadline, Bytes& bytes) {
  if (options.file.empty()) return {};
  Result<std::string> text = read_payload(options.file, client, deadline);
  if (!text.ok()) return text.status();
  const auto* first = reinterpret_cast<const std::byte*>(text->data());
  bytes.assign(first, first + text->size());
  return {};
}

// Shares to be joined may be empty.
bool must_bring(const CollectiveOptions& o, Rank self) {
  if (o.operation == Operation::kScatter || o.operation == Operation::kDivide) return self == o.root;
  return o.operation != Operation::kConquer;
}

Outcome call(Group& group, const CollectiveOptions& o, const Bytes& bytes, const Combination& combination,
             Duration deadline) {
  OperationOptions options;
  options.label = o.choice.label_text();
  options.algorithm = o.alpha.empty() ? o.algorithm : "share:" + o.alpha;
  switch (o.operation) {
    case Operation::kReduce: return group.reduce(o.root, bytes, combination, deadline, options);
    case Operation::kAllreduce: return group.allreduce(bytes, combination, deadline, options);
    case Operation::kScatter: return group.scatter(o.root, bytes, deadline, options);
    case Operation::kGather: return group.gather(o.root, bytes, deadline, options);
    case Operation::kAllgather: return group.allgather(bytes, deadline, options);
    case Operation::kDivide: return group.divide(o.root, bytes, combination.type, deadline, options);
    case Operation::kConquer: return group.conquer(o.root, o.elements, bytes, combination, deadline, options);
    default: return group.alltoall(bytes, deadline, options);
  }
}

int print(const Command& command, const CollectiveOptions& options, const Outcome& outcome, ElementType type) {
  const bool as_numbers = options.file.empty();
  if (command.json) return report_outcome(command, outcome, as_numbers ? numbers(outcome, type) : Json());
  if (outcome.ok() && as_numbers) {
    for (const Json& value : numbers(outcome, type)) std::cout << text_of(value) << '\n';
  } else if (outcome.ok()) {
    std::cout.write(reinterpret_cast<const char*>(outcome.payload.data()),
                    static_cast<std::streamsize>(outcome.payload.size()));
  }
  std::cout.flush();
  return report_outcome(command, outcome);
}

// Bytes cannot be added, but shares of at most one half can be joined without.
Combination combination(const CollectiveOptions& o, ElementType type, CombineOperator op) {
  const bool joins = o.operation == Operation::kConquer && type == ElementType::kBytes && op == CombineOperator::kSum;
  return {type, joins ? CombineOperator::kNone : op};
}

int run(const Command& command, const CollectiveOptions& options) {
  std::string error;
  const auto type = element_type_by_name(type_name(options), error);
  const auto op = combine_operator_by_name(options.combine, error);
  if (!type || !op) return report(command, {Code::kInvalid, error, {}});
  auto bytes = given(options, *type);
  if (!bytes.ok()) return report(command, bytes.status());
  auto client = connect(options.choice.daemon);
  if (!client.ok()) return report(command, client.status());
  auto group = client.value()->join(options.choice.group(), options.choice.participants);
  if (!group.ok()) return report(command, group.status());
  if (options.values.empty() && options.file.empty() && must_bring(options, group->rank()))
    return report(command,
                  {Code::kInvalid, "this rank brings nothing: give numbers, or a --file (-: standard input)", {}});
  Duration deadline = options.choice.deadline_time();
  if (Status status = read_file(options, **client, deadline, *bytes); !status.ok()) return report(command, status);
  return print(command, options, call(*group, options, *bytes, combination(options, *type, *op), deadline), *type);
}

struct Subcommand {
  Operation operation;
  const char* name;
  const char* description;
  const char* example;
};

constexpr Subcommand kSubcommands[] = {
    {Operation::kReduce, "reduce", "All ranks' numbers combined, element by element, at the root",
     "fibocast reduce all --operator max --root 2 7 3"},
    {Operation::kAllreduce, "allreduce", "... at every rank", "fibocast allreduce all --type double 0.5 --rank 0"},
    {Operation::kScatter, "scatter", "The root's blocks, one to each rank", "fibocast scatter all 10 20 30 --rank 0"},
    {Operation::kGather, "gather", "Each rank's block, in the order of the ranks, at the root",
     "fibocast gather all --file part.bin"},
    {Operation::kAllgather, "allgather", "... at every rank", "fibocast allgather all 42"},
    {Operation::kAlltoall, "alltoall", "One block from each rank to each rank", "fibocast alltoall all 1 2 3"},
    {Operation::kDivide, "divide",
     "The root's numbers halved, or by --alpha, from phase to phase: to each rank its share",
     "fibocast divide all 10 20 30 40 --rank 0"},
    {Operation::kConquer, "conquer", "... and back: the shares joined at the root, combined where they overlap",
     "fibocast conquer all --elements 4 10 --rank 0"},
};

void add(CLI::App& app, Command& command, const Subcommand& s) {
  auto options = std::make_shared<CollectiveOptions>();
  options->operation = s.operation;
  CLI::App* sub = add_subcommand(app, command, s.name, s.description, s.example,
                                 [&command, options] { return run(command, *options); });
  const bool rooted = s.operation == Operation::kReduce || s.operation == Operation::kScatter ||
                      s.operation == Operation::kGather || is_of_shares(s.operation);
  add_operation_options(*sub, options->choice);
  sub->add_option(
      "values", options->values,
      "numbers of --type: what this rank brings; results are printed as such, in JSON what is not finite as the "
      "strings inf, -inf, nan");
  sub->add_option("--file", options->file, "bytes instead of numbers; -: standard input. Results are bytes, too");
  sub->add_option("--type", options->type, "int32, int64 (default), uint64, float or double");
  if (rooted) sub->add_option("--root", options->root, "the root's rank in the group")->capture_default_str();
  if (combines(s.operation) || s.operation == Operation::kConquer)
    sub->add_option("--operator", options->combine, "min, max, sum, prod, and, or, xor")->capture_default_str();
  auto* algorithm =
      sub->add_option("--algorithm", options->algorithm,
                      "as `fibocast plan schedule` names it, the same at all ranks; default: what the group plans");
  if (is_of_shares(s.operation))
    sub->add_option("--alpha", options->alpha, "the share passed on in each phase, 0 < alpha <= 1; default: 0.5")
        ->excludes(algorithm);
  if (s.operation == Operation::kConquer)
    sub->add_option("--elements", options->elements, "of the root's whole vector: the same at all ranks")->required();
}

}  // namespace

void add_collective_commands(CLI::App& app, Command& command) {
  for (const Subcommand& s : kSubcommands) add(app, command, s);
}

}  // namespace fibocast

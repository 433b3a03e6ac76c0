// The C++ library's answers for the tests of the Python client. Reads one call a line,
//
//   RANK OPERATION ROOT TYPE OPERATOR ALGORITHM ELEMENTS HEX
//
// makes each rank's calls in their order in the group that is named on the command line, where a socket for each rank
// follows, and prints "RANK HEX" for each, or "RANK ! CODE". `-` is nothing. With the word `catalog` it prints the
// algorithms as they are on the wire; with `shares` the shares of divides.
#include <charconv>
#include <iostream>
#include <sstream>
#include <thread>

#include "collectives/algorithm_catalog.h"
#include "collectives/divide.h"
#include "collectives/element_names.h"
#include "collectives/schedule.h"
#include "runtime/client/client.h"

namespace fibocast {
namespace {

using Bytes = std::vector<std::byte>;

constexpr auto kDeadline = std::chrono::seconds(30);

struct PythonCall {
  Operation operation = Operation::kBarrier;
  Rank root = 0;
  Combination combination;
  OperationOptions options;
  std::uint64_t elements = 0;
  Bytes bytes;
};

Bytes from_hex(const std::string& text) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    std::uint8_t value = 0;
    std::from_chars(text.data() + i, text.data() + i + 2, value, 16);
    bytes.push_back(std::byte{value});
  }
  return bytes;
}

std::string to_hex(const Bytes& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte b : bytes)
    text += {kDigits[std::to_integer<int>(b) >> 4], kDigits[std::to_integer<int>(b) & 15]};
  return text.empty() ? "-" : text;
}

bool read_call(const std::string& line, Rank& rank, PythonCall& call) {
  std::istringstream words(line);
  std::string operation, type, op, algorithm, hex, error;
  if (!(words >> rank >> operation >> call.root >> type >> op >> algorithm >> call.elements >> hex)) return false;
  const auto kind = operation_by_name(operation);
  const auto element = element_type_by_name(type, error);
  const auto combine = op == "none" ? CombineOperator::kNone : combine_operator_by_name(op, error);
  if (!kind || !element || !combine) return false;
  call.operation = *kind;
  call.combination = {*element, *combine};
  if (algorithm != "-") call.options.algorithm = algorithm;
  if (hex != "-") call.bytes = from_hex(hex);
  return true;
}

Outcome make(Group& group, const PythonCall& c) {
  switch (c.operation) {
    case Operation::kBarrier: return group.barrier(kDeadline, c.options);
    case Operation::kMulticast: return group.multicast(c.root, c.bytes, kDeadline, c.options);
    case Operation::kReduce: return group.reduce(c.root, c.bytes, c.combination, kDeadline, c.options);
    case Operation::kAllreduce: return group.allreduce(c.bytes, c.combination, kDeadline, c.options);
    case Operation::kScatter: return group.scatter(c.root, c.bytes, kDeadline, c.options);
    case Operation::kGather: return group.gather(c.root, c.bytes, kDeadline, c.options);
    case Operation::kAllgather: return group.allgather(c.bytes, kDeadline, c.options);
    case Operation::kAlltoall: return group.alltoall(c.bytes, kDeadline, c.options);
    case Operation::kDivide: return group.divide(c.root, c.bytes, c.combination.type, kDeadline, c.options);
    case Operation::kConquer: return group.conquer(c.root, c.elements, c.bytes, c.combination, kDeadline, c.options);
  }
  return {};
}

std::string answers_of(Rank rank, const std::string& name, const std::string& socket,
                       const std::vector<PythonCall>& calls) {
  std::ostringstream out;
  auto client = Client::connect(socket);
  if (!client.ok()) return client.status().sentence + "\n";
  auto group = client.value()->open(name);
  if (!group.ok()) return group.status().sentence + "\n";
  for (const PythonCall& call : calls) {
    const Outcome outcome = make(*group, call);
    out << rank << ' ' << (outcome.ok() ? to_hex(outcome.payload) : "! " + std::string(code_name(outcome.status.code)))
        << '\n';
  }
  return std::move(out).str();
}

int answer_calls(const std::string& name, const std::vector<std::string>& sockets) {
  std::vector<std::vector<PythonCall>> calls(sockets.size());
  for (std::string line; std::getline(std::cin, line);) {
    Rank rank = 0;
    PythonCall call;
    if (!read_call(line, rank, call) || rank >= sockets.size()) {
      std::cerr << "not understood: " << line.substr(0, 100) << '\n';
      return 2;
    }
    calls[rank].push_back(std::move(call));
  }
  std::vector<std::string> answers(sockets.size());
  std::vector<std::thread> ranks;
  for (Rank rank = 0; rank < sockets.size(); ++rank)
    ranks.emplace_back([&, rank] { answers[rank] = answers_of(rank, name, sockets[rank], calls[rank]); });
  for (std::thread& rank : ranks) rank.join();
  for (const std::string& answer : answers) std::cout << answer;
  return 0;
}

int print_catalog() {
  for (const AlgorithmEntry& e : algorithm_catalog())
    std::cout << operation_name(e.operation) << ' ' << e.name << ' ' << int(e.choice.algorithm) << ' '
              << int(e.choice.tree) << ' ' << e.choice.parameter << '\n';
  return 0;
}

int print_shares() {
  for (Rank ranks = 1; ranks <= 20; ++ranks)
    for (const std::uint64_t elements : {0ull, 1ull, 7ull, 1000ull, 4294967295ull})
      for (const std::uint16_t alpha : {1, 3000, 5000, 9500, 10'000}) {
        const OperationShape shape{.operation = Operation::kDivide,
                                   .ranks = ranks,
                                   .total_bytes = elements,
                                   .choice = {Algorithm::kBinomialShares, {}, alpha}};
        for (Rank rank = 0; rank < ranks; ++rank) {
          const Share share = final_share(shape, rank);
          std::cout << rank << ' ' << ranks << ' ' << elements << ' ' << alpha << ' ' << share.first << ' '
                    << share.count << '\n';
        }
      }
  return 0;
}

}  // namespace
}  // namespace fibocast

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words == std::vector<std::string>{"catalog"}) return fibocast::print_catalog();
  if (words == std::vector<std::string>{"shares"}) return fibocast::print_shares();
  if (words.size() >= 2) return fibocast::answer_calls(words[0], {words.begin() + 1, words.end()});
  std::cerr << "usage: reference GROUP SOCKET... | catalog | shares\n";
  return 2;
}

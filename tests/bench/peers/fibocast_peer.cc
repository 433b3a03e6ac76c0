// This project. Variant "embedded": a node in each process; WORDS: key file or "-" (nothing sealed), then host:port of
// every node. Variant "daemon": through the daemon at a socket; WORDS: the sockets of the daemons by rank. Variant
// "direct": nodes of the processes' own, which the daemons let find each other; WORDS: as local in the settings,
// sockets.
#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>

#include "runtime/client/client.h"
#include "runtime/client/embedded_node.h"
#include "tests/bench/peers/way.h"

namespace fibocast::peers {
namespace {

template <class T>
T good(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().sentence);
  return std::move(result.value());
}

Outcome good(Outcome outcome) {
  if (!outcome.ok()) throw std::runtime_error(outcome.status.sentence);
  return outcome;
}

class Fibocast final : public Way {
 public:
  explicit Fibocast(Group group) : group_(std::move(group)) {}
  void barrier() override { good(group_.barrier(std::chrono::seconds(60))); }
  double allreduce(double value) override {
    const Outcome outcome = good(group_.allreduce<double>(std::span<const double>(&value, 1), CombineOperator::kSum));
    std::memcpy(&value, outcome.payload.data(), sizeof value);
    return value;
  }
  void multicast(std::span<std::byte> bytes) override { good(group_.multicast_into(0, bytes)); }

 private:
  Group group_;
};

// Returns when the node has all others: what the start of other libraries waits for is not to be measured here either.
std::shared_ptr<EmbeddedNode> connected(std::shared_ptr<EmbeddedNode> node) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (good(node->status()).connected + 1 < node->size()) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error("the nodes do not connect");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return node;
}

Group group(const Place& place) {
  if (place.variant == "daemon") return good(good(Client::connect(place.words.at(place.rank)))->open("all"));
  if (place.variant == "direct") {
    Client::DirectOptions options;
    options.local = place.words.at(0);
    return good(good(Client::connect(place.words.at(place.rank + 1)))->open_direct("all", options));
  }
  EmbeddedNode::Options options;
  options.rank = place.rank;
  options.local = place.words.at(0);
  if (place.words.at(1) == "-")
    options.insecure = true;
  else
    options.key_file = place.words.at(1);
  options.nodes.assign(place.words.begin() + 2, place.words.end());
  return good(connected(good(EmbeddedNode::start(options)))->open("all"));
}

std::unique_ptr<Way> make(const Place& place) { return std::make_unique<Fibocast>(group(place)); }

}  // namespace
}  // namespace fibocast::peers

int main(int argc, char** argv) { return fibocast::peers::run(argc, argv, fibocast::peers::make); }

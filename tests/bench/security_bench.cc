// What security costs, as ratios within one run: barriers of 16 daemons with sealed frames beside those of 16 that seal
// nothing (the target: `ratio` at most 1.15), and barriers of 8 while 100,000 datagrams a second of a stranger come to
// one of them, beside the same at a port where nobody listens (at most 3, none fails, `rss_KiB` stays).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <fstream>

#include "tests/end_to_end/hostile.h"
#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

constexpr int kRounds = 15;
constexpr int kWarmups = 5;               // under the flood, until a daemon has touched the memory that it uses
constexpr const char* kBarriers = "400";  // of a round
constexpr int kAtOnce = 100;              // datagrams that are sent without a look at the clock
constexpr double kPerSecond = 105'000;    // at least 100,000 of them are sent

// The median of a round of barriers, in ns from the last arrival to the last activation; nothing if one failed.
std::optional<double> round_of(TestCluster& cluster) {
  const Ended ended = cluster.run({"bench", "barrier", "--repetitions", kBarriers, "--quiet", "--json"});
  if (ended.exit_code != 0) return std::nullopt;
  return ended.json()["network_median_ns"].get<double>();
}

double middle(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

// Two ways in turn, so that what else happens on the host happens to both. The first is what the second is divided by.
class Comparison {
 public:
  using Way = std::function<std::optional<double>()>;
  Comparison(Way usual, Way other) : ways_{std::move(usual), std::move(other)} {}
  void run(benchmark::State& state, const char* usual, const char* other) {
    for (int round = 0; round < kRounds; ++round)
      for (const int way : {round % 2, 1 - round % 2}) {
        const auto time = ways_[way]();
        if (!time) return state.SkipWithError("a barrier failed");
        times_[way].push_back(*time);
      }
    std::vector<double> ratios;
    for (int round = 0; round < kRounds; ++round) ratios.push_back(times_[1][round] / times_[0][round]);
    state.counters[std::string(usual) + "_us"] = middle(times_[0]) / 1000;
    state.counters[std::string(other) + "_us"] = middle(times_[1]) / 1000;
    state.counters["ratio"] = middle(times_[1]) / middle(times_[0]);
    state.counters["ratio_of_rounds"] = middle(ratios);
  }

 private:
  Way ways_[2];
  std::vector<double> times_[2];
};

void sealing(benchmark::State& state, const char* transport) {
  for (auto _ : state) {
    TestCluster open, sealed;
    const Words words = {"-n", "16", "--transport", transport};
    open.up(words);
    Words with_key = words;
    with_key.insert(with_key.end(), {"--settings", "security.key_file=" + sealed.key_file()});
    sealed.up(with_key);
    Comparison([&] { return round_of(open); }, [&] { return round_of(sealed); }).run(state, "open", "sealed");
  }
}

// A stranger's datagrams to one address, at a steady rate, until it goes out of scope.
class Flood {
 public:
  Flood(const std::string& to, bool likely)
      : thread_([this, to, likely](std::stop_token end) { pour(end, to, likely); }) {}
  double per_second() const { return static_cast<double>(sent_) / std::max(seconds(), 1e-9); }

 private:
  using Clock = std::chrono::steady_clock;
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  void pour(const std::stop_token& end, const std::string& to, bool likely) {
    const Socket socket = Socket::udp(to);
    std::mt19937 random(1);
    std::vector<Octets> datagrams;
    for (int i = 0; i < 1000; ++i) {
      datagrams.push_back(random_bytes(random, 200));
      datagrams.back().resize(120);
      if (likely)
        std::ranges::copy(Octets{0x5e, 0xf1, 1, static_cast<unsigned char>(1 + i % 3)}, datagrams.back().begin());
    }
    while (!end.stop_requested()) {
      for (int i = 0; i < kAtOnce; ++i) socket.send(datagrams[sent_++ % datagrams.size()]);
      const double ahead = static_cast<double>(sent_) / kPerSecond - seconds();
      if (ahead > 0) std::this_thread::sleep_for(std::chrono::duration<double>(ahead));
    }
  }

  const Clock::time_point begin_ = Clock::now();
  std::atomic<std::uint64_t> sent_ = 0;
  std::jthread thread_;  // the last member: it uses the others
};

std::uint64_t rss_kib(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; file >> word;)
    if (word == "VmRSS:") {
      std::uint64_t kib = 0;
      file >> kib;
      return kib;
    }
  return 0;
}

// A port of this host where nobody listens: it was free just now.
std::string unused_address() {
  sockaddr_in address = address_of("127.0.0.1:0");
  const Socket socket(::socket(AF_INET, SOCK_DGRAM, 0));
  socklen_t size = sizeof address;
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

void flood(benchmark::State& state, bool likely) {
  for (auto _ : state) {
    TestCluster cluster;
    cluster.up({"-n", "8", "--settings", "security.key_file=" + cluster.key_file()});
    const Json status = cluster.run({"status", "--json"}).json();
    std::string victim;
    for (const Json& node : status["nodes"])
      for (const Json& peer : node.value("peers", Json::array()))
        if (peer["rank"] == 0) victim = peer["address"];
    const int pid = status["nodes"][0]["pid"];
    double rate = kPerSecond;
    const auto under_flood = [&](const std::string& to) {
      const Flood flood(to, likely);
      const auto time = round_of(cluster);
      rate = std::min(rate, flood.per_second());
      return time;
    };
    for (int warmup = 0; warmup < kWarmups; ++warmup) under_flood(victim);
    const std::uint64_t before = rss_kib(pid);
    Comparison([&] { return under_flood(unused_address()); }, [&] { return under_flood(victim); })
        .run(state, "unused", "at_daemon");
    state.counters["least_per_second"] = rate;
    state.counters["rss_KiB"] = static_cast<double>(rss_kib(pid));
    state.counters["rss_grew_KiB"] = static_cast<double>(rss_kib(pid)) - static_cast<double>(before);
  }
}

BENCHMARK_CAPTURE(sealing, udp, "udp")->Iterations(1)->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(sealing, tcp, "tcp")->Iterations(1)->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(flood, random_bytes, false)->Iterations(1)->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(flood, first_bytes_of_sealed_ones, true)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace fibocast

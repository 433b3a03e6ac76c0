#include "tests/bench/peers/way.h"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace fibocast::peers {
namespace {

constexpr std::size_t kMulticasts[] = {64, 1024, 64 * 1024, 1024 * 1024};
constexpr int kFirst = 2, kWarmUps = 40, kLeast = 5, kMost = 2000;
constexpr std::int64_t kBudget = 55'000'000, kWarmUpBudget = 40'000'000;  // ns of repetitions together

std::int64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

// A column of /proc/net/snmp, as "Udp", "OutDatagrams": names in one line, numbers in the next.
std::int64_t counter(const std::string& protocol, const std::string& name) {
  std::ifstream file("/proc/net/snmp");
  for (std::string names, numbers; std::getline(file, names) && std::getline(file, numbers);) {
    std::istringstream n(names), v(numbers);
    std::string word, value;
    while (n >> word && v >> value)
      if (names.starts_with(protocol + ":") && word == name) return std::stoll(value);
  }
  return 0;
}

struct Usage {
  static Usage now(bool with_others) {
    rusage u{};
    getrusage(RUSAGE_SELF, &u);
    Usage usage{(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1'000'000 + u.ru_utime.tv_usec + u.ru_stime.tv_usec,
                u.ru_nvcsw, 0};
    if (with_others) usage.add_others();
    return usage;
  }
  // What only rank 0 counts: the servers, whose numbers are in the environment, and the messages of all.
  void add_others() {
    messages = counter("Udp", "OutDatagrams") + counter("Tcp", "OutSegs");
    const char* servers = std::getenv("FIBOCAST_PEERS_SERVERS");
    std::istringstream pids(servers != nullptr ? servers : "");
    for (std::string pid; pids >> pid;)
      for (const auto& thread : std::filesystem::directory_iterator("/proc/" + pid + "/task"))
        add_thread(thread.path());
  }
  void add_thread(const std::filesystem::path& thread) {
    std::int64_t ns = 0;
    std::ifstream(thread / "schedstat") >> ns;
    cpu_us += ns / 1000;
    std::ifstream status(thread / "status");
    for (std::string word; status >> word;) {
      if (word != "voluntary_ctxt_switches:") continue;
      std::int64_t switches = 0;
      status >> switches;
      wakeups += switches;
    }
  }
  std::int64_t cpu_us, wakeups, messages;
};

class Measurement {
 public:
  Measurement(Way& way, const Place& place) : way_(way), place_(place) {}

  void barrier() {
    repeat("barrier", 0, [this](int) { timed([this] { way_.barrier(); }); });
  }
  void allreduce() {
    const double sum = place_.n * (place_.n + 1) / 2.0;
    repeat("allreduce", 8, [this, sum](int i) {
      double got = 0;
      timed([&] { got = way_.allreduce(i + place_.rank + 1.0); });
      if (got != sum + static_cast<double>(i) * place_.n) throw std::runtime_error("allreduce: a wrong sum");
    });
  }
  // With a barrier before each, so that no repetition runs into the next; it is in the CPU time, not in the time.
  void multicast(std::size_t bytes) {
    std::vector<std::byte> buffer(bytes);
    repeat("multicast", bytes, [&](int i) {
      const auto mark = static_cast<std::byte>(i % 251 + 1);
      std::ranges::fill(buffer, place_.rank == 0 ? mark : std::byte{0});
      way_.barrier();
      timed([&] { way_.multicast(buffer); });
      if (buffer.front() != mark || buffer.back() != mark || buffer[bytes / 2] != mark)
        throw std::runtime_error("multicast: wrong bytes");
    });
  }

 private:
  template <class Operation>
  void timed(Operation operation) {
    const std::int64_t begin = now();
    operation();
    times_.push_back(begin), times_.push_back(now());
  }
  void repeat(const std::string& operation, std::size_t bytes, const std::function<void(int)>& once) {
    const std::string name = operation + "." + std::to_string(bytes);
    const auto average = [&](int times) {
      const std::int64_t begin = now();
      for (int i = 0; i < times; ++i) once(i);
      return (now() - begin) / times;
    };
    const int warm_ups = agree(name + ".warm-ups", kWarmUpBudget, average(kFirst), kFirst, kWarmUps);
    const int count = agree(name, kBudget, average(warm_ups), kLeast, kMost);
    times_.clear(), times_.reserve(2 * static_cast<std::size_t>(count));
    way_.barrier();
    const Usage before = Usage::now(place_.rank == 0);
    for (int i = 0; i < count; ++i) once(i);
    const Usage after = Usage::now(place_.rank == 0);
    way_.barrier();
    std::vector<std::int64_t> words = {after.cpu_us - before.cpu_us, after.wakeups - before.wakeups,
                                       after.messages - before.messages};
    words.insert(words.end(), times_.begin(), times_.end());
    std::ofstream file(place_.directory / (name + "." + std::to_string(place_.rank)), std::ios::binary);
    file.write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(words.size() * 8));
  }
  // How often: rank 0 says it by a file, the others read it after a barrier.
  // How many times `each` fit in the budget, as rank 0 says.
  int agree(const std::string& name, std::int64_t budget, std::int64_t each, std::int64_t least, std::int64_t most) {
    const auto path = place_.directory / (name + ".count");
    if (place_.rank == 0) std::ofstream(path) << std::clamp(budget / std::max<std::int64_t>(each, 1), least, most);
    way_.barrier();
    int count = 0;
    std::ifstream(path) >> count;
    return count;
  }

  Way& way_;
  const Place& place_;
  std::vector<std::int64_t> times_;
};

}  // namespace

Place read_place(int argc, char** argv) {
  if (argc < 5) throw std::runtime_error("usage: PROGRAM VARIANT RANK N DIRECTORY WORDS...");
  return {argv[1],
          static_cast<std::uint32_t>(std::stoul(argv[2])),
          static_cast<std::uint32_t>(std::stoul(argv[3])),
          argv[4],
          {argv + 5, argv + argc}};
}

void measure(Way& way, const Place& place) {
  Measurement measurement(way, place);
  measurement.barrier();
  if (way.has_allreduce()) measurement.allreduce();
  if (way.has_multicast())
    for (const std::size_t bytes : kMulticasts) measurement.multicast(bytes);
}

int run(int argc, char** argv, std::unique_ptr<Way> (*make)(const Place&)) {
  try {
    const Place place = read_place(argc, argv);
    const std::unique_ptr<Way> way = make(place);
    measure(*way, place);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << "\n";
    return 1;
  }
}

}  // namespace fibocast::peers

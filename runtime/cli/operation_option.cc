#include "runtime/cli/operation_option.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "runtime/cli/straggler_text.h"

namespace fibocast {
namespace {

using Clock = std::chrono::steady_clock;

struct OpenInput {
  // A pipe with a name is not waited for here.
  explicit OpenInput(const std::string& path)
      : number(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {}
  ~OpenInput() {
    if (number > STDIN_FILENO) ::close(number);
  }
  OpenInput(const OpenInput&) = delete;
  OpenInput& operator=(const OpenInput&) = delete;
  int number;
};

// False: not in time.
bool wait_readable(int number, Clock::time_point until) {
  for (pollfd input{number, POLLIN, 0};;) {
    const auto now = Clock::now();
    if (now >= until) return false;
    const auto left = std::min(until - now, Clock::duration(std::chrono::hours(1)));
    if (::poll(&input, 1, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count())) != 0)
      return true;
  }
}

}  // namespace

std::string OperationChoice::label_text() const {
  const auto slash = name.find('/');
  return label.empty() && slash != std::string::npos ? name.substr(slash + 1) : label;
}

Duration OperationChoice::deadline_time() const { return deadline.empty() ? Duration(0) : parse_duration(deadline); }

void add_operation_options(CLI::App& app, OperationChoice& choice) {
  app.add_option("name", choice.name, "GROUP or GROUP/LABEL; `all` is every node, and so is a name nobody created")
      ->required();
  app.add_option("--participants", choice.participants, "local participants at each member, if the group is new");
  app.add_option("--deadline", choice.deadline, "as in 5s; default: the daemon's setting, 30 s");
  app.add_option("--label", choice.label, "appears in the sentences of failures");
  add_daemon_options(app, choice.daemon);
}

Result<std::string> read_input(const std::string& path, const InputBounds& bounds) {
  const OpenInput input(path);
  const std::string name = path == "-" ? "standard input" : path;
  std::array<char, 65536> part;
  std::string bytes;
  while (input.number >= 0 && bytes.size() < bounds.bytes) {
    if (!wait_readable(input.number, bounds.until))
      return Status{Code::kDeadlineExceeded,
                    "the deadline passed while " + name + " was read; give a longer one, or the input sooner",
                    {}};
    const std::size_t most = std::min<std::uint64_t>(part.size(), bounds.bytes - bytes.size());
    const ssize_t got = ::read(input.number, part.data(), most);
    if (got == 0) return bytes;
    if (got < 0 && errno != EINTR && errno != EAGAIN) break;  // a folder can be opened but not read
    bytes.append(part.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }
  if (bytes.size() >= bounds.bytes) return bytes;
  return Status{Code::kInvalid, "cannot read " + name + ": " + std::strerror(errno), {}};
}

Result<std::string> read_payload(const std::string& path, const Client& client, Duration& deadline) {
  InputBounds bounds;
  if (client.payload_limit() > 0) bounds.bytes = client.payload_limit() + 1;
  if (deadline.count() == 0) deadline = client.default_deadline();
  if (deadline.count() == 0) return read_input(path, bounds);  // an older daemon, which does not say it
  const auto begin = Clock::now();
  bounds.until = begin + deadline;
  auto bytes = read_input(path, bounds);
  deadline = std::max(deadline - std::chrono::duration_cast<Duration>(Clock::now() - begin), Duration(1));
  return bytes;
}

int report_outcome(const Command& command, const Outcome& outcome, const Json& values) {
  if (!command.json) return report(command, outcome.status);
  Json json = to_json(outcome.status);
  json["generation"] = outcome.generation;
  json["arrived_at_ns"] = outcome.arrived_at;
  json["activated_at_ns"] = outcome.activated_at;
  json["lateness_ns"] = outcome.lateness;
  if (outcome.straggler.rank != kNoRank) json["straggler"] = to_json(outcome.straggler);
  if (!outcome.payload.empty()) json["bytes"] = outcome.payload.size();
  if (!values.is_null() && outcome.ok()) json["values"] = values;
  print_json(json);
  return outcome.status.exit_code();
}

}  // namespace fibocast

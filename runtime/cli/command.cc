#include "runtime/cli/command.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>

#include "collectives/number_text.h"
#include "collectives/rational.h"
#include "runtime/cli/cluster_record.h"

namespace fibocast {
namespace {

constexpr Rank kMaxRank = 1 << 20;  // a typing error must not ask for all memory

// A number from `text`, which it shortens by what it has read.
std::optional<Rank> take_number(std::string_view& text) {
  Rank value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value > kMaxRank) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

CLI::App* add_subcommand(CLI::App& parent, Command& command, const std::string& name, const std::string& description,
                         const std::string& example, std::function<int()> run) {
  CLI::App* app = parent.add_subcommand(name, description);
  app->add_flag("--json", command.json, "one JSON document on stdout, nothing else there");
  app->add_flag("--quiet", command.quiet, "no progress and no remarks");
  app->footer("Example: " + example);
  if (run) app->callback([&command, run = std::move(run)] { command.exit_code = run(); });
  return app;
}

void add_dir_option(CLI::App& app, std::string& dir) {
  dir = canonical_dir(default_cluster_dir());
  app.add_option("--dir", dir, "folder of the local cluster")
      ->transform(canonical_dir)
      ->default_str(default_cluster_dir());
}

void add_cluster_options(CLI::App& app, std::string& dir, std::string& socket) {
  add_dir_option(app, dir);
  app.add_option("--socket", socket, "a daemon of any cluster; the others are reached through it");
}

void add_daemon_options(CLI::App& app, DaemonChoice& choice) {
  app.add_option("--socket", choice.socket, "the daemon's socket (else --rank, else FIBOCAST_SOCKET)");
  app.add_option("--rank", choice.rank, "the daemon of this rank of the local cluster");
  add_dir_option(app, choice.dir);
}

void check_numbers(CLI::App& app) {
  for (CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    const std::string type = option->get_type_name();
    if (type.starts_with("UINT")) option->transform(CLI::Validator(fault_of_unsigned, ""));
    if (type.starts_with("FLOAT")) option->transform(CLI::Validator(fault_of_float, ""));
  }
  for (CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) check_numbers(*sub);
}

CLI::Validator positive_number() {
  return {[](std::string& text) {
            const double value = std::strtod(text.c_str(), nullptr);
            return value > 0 ? std::string() : "'" + text + "' is not more than 0";
          },
          "POSITIVE"};
}

Duration parse_duration(const std::string& text) {
  const auto quantity = parse_quantity(text);
  if (!quantity) throw CLI::ValidationError("'" + text + "' is no duration: write 5s, 250ms or a number of seconds");
  const double ns = quantity->value.approximately() * (quantity->is_time ? 1.0 : 1e9);
  if (ns < 1 || ns > 1e18) throw CLI::ValidationError("'" + text + "' is no duration between 1 ns and 30 years");
  return Duration(static_cast<std::int64_t>(ns));
}

std::vector<Rank> parse_ranks(const std::string& text) {
  const CLI::ValidationError wrong("'" + text + "' is no list of ranks: write 0,3-7");
  std::vector<Rank> ranks;
  for (std::string_view rest = text;;) {
    const auto first = take_number(rest);
    auto last = first;
    if (first && rest.starts_with('-')) {
      rest.remove_prefix(1);
      last = take_number(rest);
    }
    if (!first || !last || *last < *first) throw wrong;
    for (Rank rank = *first; rank <= *last; ++rank) ranks.push_back(rank);
    if (rest.empty()) return ranks;
    if (!rest.starts_with(',')) throw wrong;
    rest.remove_prefix(1);
  }
}

std::string ranks_text(const std::vector<Rank>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ", ") + std::to_string(ranks[i]);
    if (end - i > 1) text += "-" + std::to_string(ranks[end - 1]);
    i = end;
  }
  return text;
}

Result<std::string> find_socket(const DaemonChoice& choice) {
  if (!choice.socket.empty()) return choice.socket;
  if (choice.rank) {
    const auto record = read_cluster_record(choice.dir);
    if (!record) return Status{Code::kUnavailable, "no local cluster is up in " + choice.dir + ": fibocast up", {}};
    if (*choice.rank >= record->nodes.size())
      return Status{Code::kInvalid,
                    "the cluster in " + choice.dir + " has ranks 0 to " + std::to_string(record->nodes.size() - 1),
                    {}};
    return record->nodes[*choice.rank].socket;
  }
  if (const char* path = std::getenv("FIBOCAST_SOCKET"); path && *path) return std::string(path);
  return Status{Code::kInvalid, "which daemon? Give --rank or --socket, or set FIBOCAST_SOCKET", {}};
}

Result<std::shared_ptr<Client>> connect(const DaemonChoice& choice) {
  const auto socket = find_socket(choice);
  if (!socket.ok()) return socket.status();
  Client::Options options;
  options.socket_path = Result<std::string>(socket).value();
  options.program = "fibocast";
  return Client::connect(options);
}

Result<NodeInfo> ask_status(const std::string& socket) {
  Client::Options options;
  options.socket_path = socket;
  options.program = "fibocast";
  options.status_only = true;
  auto client = Client::connect(options);
  return client.ok() ? client.value()->status() : Result<NodeInfo>(client.status());
}

void print_json(const Json& document) {
  std::cout << document.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;  // paths need not be UTF-8
}

Json to_json(const Status& status) {
  Json json{{"status", std::string(code_name(status.code))}};
  if (!status.sentence.empty()) json["sentence"] = status.sentence;
  if (!status.ranks.empty()) json["ranks"] = status.ranks;
  return json;
}

void hold_standard_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(number, F_GETFD) < 0) open("/dev/null", (number == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

int check_output(int exit_code) {
  if (std::cout.flush()) return exit_code;
  std::cerr << "fibocast: cannot write to standard output, so the answer is not all there; is the disk full, or the "
               "output closed?"
            << std::endl;
  return exit_code == 0 ? 1 : exit_code;
}

Status write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if (!file) return invalid("cannot write " + path + ": " + std::strerror(errno));
  file << text;
  file.close();
  return file ? Status{} : Status{Code::kFailed, "cannot write " + path + ": " + std::strerror(errno), {}};
}

int report(const Command& command, const Status& status) {
  if (command.json)
    print_json(to_json(status));
  else if (!status.ok())
    std::cerr << "fibocast: " << status.sentence << std::endl;
  return status.exit_code();
}

}  // namespace fibocast

// What the subcommands of `fibocast` have in common: the options everybody takes, how a daemon is found, how answers
// and failures are printed. A subcommand is a file with one function add_..._command().
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/client/client.h"
#include "runtime/client/status.h"

namespace fibocast {

using Json = nlohmann::ordered_json;

// The state of one run of the program.
struct Command {
  bool json = false;
  bool quiet = false;
  int exit_code = 0;
};

// Where the daemon is, as the command line says.
struct DaemonChoice {
  std::string socket;
  std::optional<NodeId> rank;  // of the local cluster in `dir`
  std::string dir;
};

// A subcommand with --json, --quiet and an example below its help. `run` gives the exit code.
CLI::App* add_subcommand(CLI::App& parent, Command& command, const std::string& name, const std::string& description,
                         const std::string& example, std::function<int()> run);
// Other than by its canonical name a cluster's folder is not known to any subcommand: daemons are found by it.
void add_dir_option(CLI::App& app, std::string& dir);
// Of what needs every daemon: `socket` is empty for the local cluster in `dir`.
void add_cluster_options(CLI::App& app, std::string& dir, std::string& socket);
void add_daemon_options(CLI::App& app, DaemonChoice& choice);

// Makes every number of this command line and of all its subcommands one that is finite and, where it cannot be less
// than 0, not less: without, CLI11 takes "nan", and "-1" for 2^64 - 1. Of an option it is the first check.
void check_numbers(CLI::App& app);
// More than 0, as CLI::PositiveNumber, which tells the allowed range in 309 digits.
CLI::Validator positive_number();

// "5s", "250ms"; a plain number is seconds. Throws CLI::ValidationError otherwise.
Duration parse_duration(const std::string& text);
// "0,3-7" -> 0 3 4 5 6 7. Throws CLI::ValidationError otherwise.
std::vector<Rank> parse_ranks(const std::string& text);
// 3 4 5 9 -> "3-5, 9"
std::string ranks_text(const std::vector<Rank>& ranks);

// --socket, then --rank, then FIBOCAST_SOCKET.
Result<std::string> find_socket(const DaemonChoice& choice);
Result<std::shared_ptr<Client>> connect(const DaemonChoice& choice);
// To ask for its status alone: as a probe does, which is answered where applications have all places.
Result<NodeInfo> ask_status(const std::string& socket);

// One JSON document on stdout.
void print_json(const Json& document);
Json to_json(const Status& status);
// Before anything is opened: a standard stream that is closed stays one that cannot be used, so that no socket gets its
// number and what is printed.
void hold_standard_streams();
// The exit code at the end, when all is printed: 1, with a sentence, if it could not be written.
int check_output(int exit_code);
// Writes a whole file, or says why not: kInvalid if it cannot be opened.
Status write_file(const std::string& path, const std::string& text);
// Prints a failure (--json: on stdout, else its sentence on stderr); gives the exit code.
int report(const Command& command, const Status& status);

}  // namespace fibocast

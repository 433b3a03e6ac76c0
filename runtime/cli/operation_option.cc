#include "runtime/cli/operation_option.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include "runtime/cli/straggler_text.h"

namespace fibocast {

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

Result<std::string> read_input(const std::string& path) {
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  std::istream& in = path == "-" ? std::cin : file;
  std::array<char, 65536> part;
  std::string bytes;
  // A folder can be opened but not read.
  while (in.read(part.data(), part.size()) || in.gcount() > 0)
    bytes.append(part.data(), static_cast<std::size_t>(in.gcount()));
  if (in.eof() && !in.bad()) return bytes;
  return Status{Code::kInvalid, "cannot read " + path + ": " + std::strerror(errno), {}};
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

// How a subcommand of `fibocast plan` ends: its exit code, or one sentence.
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>
#include <string>

namespace fibocast {

// Why there is no answer: a line on `err`, or with --json, as of all other commands, one document on `out`. Gives the
// exit code of wrong use.
inline int explain(bool json, const std::string& error, std::ostream& out, std::ostream& err) {
  using Json = nlohmann::ordered_json;
  if (json)
    out << Json{{"status", "INVALID"}, {"sentence", error}}.dump(-1, ' ', false, Json::error_handler_t::replace)
        << '\n';
  else
    err << "fibocast: " << error << '\n';
  return 2;
}

// Runs answer(error), which prints what it found and gives the exit code. A sentence in `error` is explained; times
// beyond 64 bit end with one, too.
template <class Function>
int answer_or_explain(bool json, std::ostream& out, std::ostream& err, Function answer) {
  std::string error;
  int exit_code = 2;
  try {
    exit_code = answer(error);
  } catch (const std::overflow_error&) {
    error = "the times do not fit in 64 bit";
  }
  return error.empty() ? exit_code : explain(json, error, out, err);
}

}  // namespace fibocast

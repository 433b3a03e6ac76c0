// How a subcommand of `fibocast plan` ends: its exit code, or one sentence.
#pragma once

#include <ostream>
#include <stdexcept>
#include <string>

namespace fibocast {

// Runs answer(error), which prints what it found and gives the exit code. A sentence in `error` goes to `err`; times
// beyond 64 bit end with one, too.
template <class Function>
int answer_or_explain(std::ostream& err, Function answer) {
  std::string error;
  int exit_code = 2;
  try {
    exit_code = answer(error);
  } catch (const std::overflow_error&) {
    error = "the times do not fit in 64 bit";
  }
  if (!error.empty()) err << "fibocast: " << error << '\n';
  return exit_code;
}

}  // namespace fibocast

#include "firmware_sim/fault_file.h"
#include "firmware_sim/machine_file.h"
#include "tests/fuzz/text_input.h"

namespace fibocast::fuzz {

void fuzz_machine(Bytes input) {
  std::string error;
  const bool is_machine = parse_machine(text_of(input), "fuzz.toml", error).has_value();
  require_sentence(is_machine, error);
  error.clear();
  const bool are_faults = parse_faults(text_of(input), "fuzz.toml", 16, error).has_value();
  require_sentence(are_faults, error);
}

}  // namespace fibocast::fuzz

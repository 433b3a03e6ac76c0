#include "collectives/schedule.h"
#include "collectives/validate.h"
#include "tests/fuzz/text_input.h"

namespace fibocast::fuzz {

void fuzz_schedule(Bytes input) {
  std::string error;
  const auto schedule = parse_schedule(text_of(input), error);
  require_sentence(schedule.has_value(), error);
  if (!schedule) return;
  const std::string once = to_text(*schedule);
  const auto again = parse_schedule(once, error);
  require(again && to_text(*again) == once);
  validate(*schedule);
}

}  // namespace fibocast::fuzz

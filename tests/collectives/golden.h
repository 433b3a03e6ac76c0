// Checked numbers for tests: the files in tests/golden, each of which describes its keys under "_doc".
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "collectives/rational.h"

namespace fibocast::test {

inline nlohmann::json golden(const std::string& file) {
  std::ifstream in(FIBOCAST_SOURCE_DIR "/tests/golden/" + file);
  return nlohmann::json::parse(in);
}

// One list of a file: by value, because a loop over a part of a temporary outlives it.
inline nlohmann::json golden(const std::string& file, const std::string& key) { return golden(file)[key]; }

// "9/5" of a golden file. Throws if it is no number.
inline Rational rational(const nlohmann::json& text) { return parse_quantity(text.get<std::string>()).value().value; }

}  // namespace fibocast::test

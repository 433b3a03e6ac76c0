#include "collectives/number_text.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>

namespace fibocast {

std::string fault_of_unsigned(const std::string& text) {
  errno = 0;
  std::strtoull(text.c_str(), nullptr, 0);
  if (errno == ERANGE) return "'" + text + "' is too large: at most 18446744073709551615";
  const auto first = text.find_first_not_of(" \t");
  return first != std::string::npos && text[first] == '-' ? "'" + text + "' is less than 0" : "";
}

std::string fault_of_float(const std::string& text) {
  return std::isfinite(std::strtod(text.c_str(), nullptr)) ? "" : "'" + text + "' is not a finite number";
}

}  // namespace fibocast

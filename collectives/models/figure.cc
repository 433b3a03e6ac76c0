#include "collectives/models/figure.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace fibocast {

std::string number_text(double value) {
  std::array<char, 32> text{};
  const int digits = value == std::round(value) ? 15 : 7;
  std::snprintf(text.data(), text.size(), "%.*g", digits, value);
  return text.data();
}

}  // namespace fibocast

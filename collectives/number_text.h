// Numbers on command lines that CLI11 would take for others: "-1" for 2^64 - 1, "nan" for a time. For tools.
#pragma once

#include <string>

namespace fibocast {

// What is wrong with it, else empty; what is no number at all the reader finds itself.
std::string fault_of_unsigned(const std::string& text);
std::string fault_of_float(const std::string& text);

}  // namespace fibocast

// Inputs that are texts, as files that users write.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "tests/fuzz/input.h"

namespace fibocast::fuzz {

inline std::string_view text_of(Bytes input) { return {reinterpret_cast<const char*>(input.data()), input.size()}; }

// What cannot be read is refused with a sentence, and nothing else is.
inline void require_sentence(bool read, const std::string& error) { require(read == error.empty()); }

// A file that is in memory only.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view text) : file_(memfd_create("fuzz", 0)) {
    require(write(file_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

}  // namespace fibocast::fuzz

// One way of meeting among n processes, and how all ways are measured alike. run.py starts a process for each rank:
//
//   PROGRAM VARIANT RANK N DIRECTORY WORDS...
//
// It does each operation that its way has, and leaves when everybody began and ended each repetition in
// DIRECTORY/OPERATION.BYTES.RANK, as 64-bit numbers: CPU time in us, wake-ups, messages on the wire (rank 0 only), and
// the pairs of begin and end in ns of CLOCK_MONOTONIC, which all processes of a host share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace fibocast::peers {

struct Place {
  std::string variant;
  std::uint32_t rank = 0, n = 0;
  std::filesystem::path directory;
  std::vector<std::string> words;  // addresses and the like, as run.py and the way agreed
};

class Way {
 public:
  virtual ~Way() = default;
  // Returns when everybody called it; with the sum of what they gave.
  virtual double allreduce(double value) = 0;
  virtual void barrier() { allreduce(0); }
  // Rank 0's bytes are everybody's afterwards.
  virtual void multicast(std::span<std::byte> bytes) = 0;
  virtual bool has_allreduce() const { return true; }
  virtual bool has_multicast() const { return true; }
};

Place read_place(int argc, char** argv);
// All operations. Throws when one gives a wrong result.
void measure(Way& way, const Place& place);
// For main(): 0, or 1 with a sentence on standard error.
int run(int argc, char** argv, std::unique_ptr<Way> (*make)(const Place&));

}  // namespace fibocast::peers

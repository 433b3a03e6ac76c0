// Files that users write.
#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "collectives/schedule.h"
#include "collectives/validate.h"
#include "firmware_sim/fault_file.h"
#include "firmware_sim/machine_file.h"
#include "runtime/cli/plan_nodes.h"
#include "runtime/daemon/discovery_message.h"
#include "runtime/daemon/discovery_seal.h"
#include "runtime/daemon/settings_loader.h"
#include "tests/fuzz/input.h"

namespace fibocast::fuzz {
namespace {

std::string_view text_of(Bytes input) { return {reinterpret_cast<const char*>(input.data()), input.size()}; }

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

// True: a daemon would start with them.
bool load(std::string_view text, std::string& printed) {
  const MemoryFile file(text);
  try {
    const LoadedSettings loaded = load_settings(file.path(), [](const char*) -> const char* { return nullptr; }, {});
    printed = print_settings(loaded);
    return true;
  } catch (const SettingsError& mistake) {
    require(!std::string_view(mistake.what()).empty());
    return false;
  }
}

void require_sentence(bool read, const std::string& error) { require(read == error.empty()); }

}  // namespace

// What is printed may be used as a file again: it means the same.
void fuzz_settings(Bytes input) {
  std::string printed, again;
  if (load(text_of(input), printed)) require(load(printed, again));
}

void fuzz_machine(Bytes input) {
  std::string error;
  const bool is_machine = parse_machine(text_of(input), "fuzz.toml", error).has_value();
  require_sentence(is_machine, error);
  error.clear();
  const bool are_faults = parse_faults(text_of(input), "fuzz.toml", 16, error).has_value();
  require_sentence(are_faults, error);
}

void fuzz_trees(Bytes input) {
  const MemoryFile file(text_of(input));
  std::string error;
  const auto tree = read_tree_file("file:" + file.path(), error);
  require_sentence(tree.has_value(), error);
  require(!tree || tree->is_valid());
  error.clear();
  try {
    require_sentence(read_nodes({.file = file.path()}, error).has_value(), error);
  } catch (const std::overflow_error&) {  // as its header says
  }
}

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

void fuzz_keys(Bytes input) {
  try {
    const KeyRing ring = KeyRing::parse(text_of(input));
    require(KeyRing::parse(ring.print()).print() == ring.print());
  } catch (const KeyError& mistake) {
    require(!std::string_view(mistake.what()).empty());
  }
  static DiscoverySeal seal(KeyRing(ClusterKey::generate()), 1);
  require(!seal.open(text_of(input), 0));
}

void fuzz_discovery(Bytes input) {
  const auto message = read_message("fuzz", text_of(input));
  if (!message) return;
  const std::string once = write_message("fuzz", *message);
  const auto again = read_message("fuzz", once);
  require(again && write_message("fuzz", *again) == once);
}

}  // namespace fibocast::fuzz

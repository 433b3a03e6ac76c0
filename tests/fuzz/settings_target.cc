#include "runtime/daemon/settings_loader.h"
#include "tests/fuzz/text_input.h"

namespace fibocast::fuzz {
namespace {

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

}  // namespace

// What is printed may be used as a file again: it means the same.
void fuzz_settings(Bytes input) {
  std::string printed, again;
  if (load(text_of(input), printed)) require(load(printed, again));
}

}  // namespace fibocast::fuzz

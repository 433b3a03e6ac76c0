#include "runtime/cli/external_command.h"

#include "runtime/cli/process.h"

namespace fibocast {

void run_external_command(const std::string& name, const std::vector<std::string>& arguments) {
  if (name.empty() || name.find('/') != std::string::npos) return;
  const std::string program = find_program("fibocast-" + name);
  if (program.empty()) return;
  std::vector<std::string> all{program};
  all.insert(all.end(), arguments.begin(), arguments.end());
  execute(all);
}

}  // namespace fibocast

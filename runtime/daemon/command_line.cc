#include "runtime/daemon/command_line.h"

#include <CLI/CLI.hpp>

#include "runtime/daemon/security.h"
#include "runtime/daemon/settings_fields.h"
#include "runtime/wire/client_codec.h"
#include "transport/frame.h"

namespace fibocast {
namespace {

constexpr const char* kExample =
    "Example, the second of three daemons of a cluster:\n"
    "  fibocastd --rank 1 --nodes n0:7117,n1:7117,n2:7117 --key-file /etc/fibocast/key\n"
    "or the same from a file, to be looked at first:\n"
    "  fibocastd --config node.toml --rank 1 --print-config\n"
    "Every setting also has an environment variable: FIBOCAST_NODE_RANK for node.rank, and so on.\n"
    "A flag goes before the environment, the environment before the file.";

// The first protocol is that of other daemons, the second that of applications.
std::string version_text() {
  return "fibocastd " FIBOCAST_VERSION ", protocol " + std::to_string(kFrameMajor) + "." + std::to_string(kFrameMinor) +
         ", client protocol " + std::to_string(kClientMajor) + "." + std::to_string(kClientMinor);
}

struct Flags {
  std::string file;
  bool check = false;
  bool print = false;
  std::map<std::string, std::string> values;
};

void add_setting(CLI::App& app, const SettingField& field, Flags& flags) {
  std::string names = "--" + field.key;
  if (!field.short_flag.empty()) names += "," + field.short_flag;
  const std::string help = field.help + "; " + field.allowed + " [" + field.print(Settings{}) + "]";
  app.add_option_function<std::string>(
         names, [&flags, key = field.key](const std::string& value) { flags.values[key] = value; }, help)
      ->type_name("")
      ->group("Settings: " + field.key.substr(0, field.key.find('.')));
}

void add_flags(CLI::App& app, Flags& flags) {
  app.add_option("--config", flags.file, "file of settings (TOML); else FIBOCAST_CONFIG")->type_name("FILE");
  app.add_flag("--check-config", flags.check, "look at the settings and end: 0 good, 2 a mistake");
  app.add_flag("--print-config", flags.print, "show the effective settings, each with where it came from, and end");
  app.add_flag_function(
      "--insecure", [&flags](std::int64_t) { flags.values["security.mode"] = "insecure"; },
      "no key: whoever reaches this daemon can read all and take part; the same as --security.mode insecure");
  app.set_version_flag("--version", version_text());
  for (const SettingField& field : setting_fields()) add_setting(app, field, flags);
  app.footer(kExample);
}

CommandLine ended(int exit_code, const std::string& output) {
  CommandLine line;
  line.exit_code = exit_code;
  line.output = output;
  return line;
}

CommandLine load(const Flags& flags, const Environment& environment) try {
  CommandLine line;
  line.file = flags.file;
  if (const char* file = environment("FIBOCAST_CONFIG"); file && line.file.empty()) line.file = file;
  line.flags = flags.values;
  line.loaded = load_settings(line.file, environment, line.flags);
  check_security(line.loaded);
  if (flags.print) return ended(0, print_settings(line.loaded));
  if (flags.check) load_keys(line.loaded.settings);  // of what they name, all that is read before anything is opened
  if (flags.check) return ended(0, "the settings are good\n");
  return line;
} catch (const SettingsError& error) {
  return ended(2, std::string("fibocastd: ") + error.what() + "\n");
}

}  // namespace

CommandLine read_command_line(int argc, const char* const* argv, const Environment& environment) {
  CLI::App app("The daemon of Fibocast: barriers and multicasts between the nodes of a cluster.", "fibocastd");
  Flags flags;
  add_flags(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return ended(0, app.help());
  } catch (const CLI::CallForVersion& version) {
    return ended(0, std::string(version.what()) + "\n");
  } catch (const CLI::ParseError& error) {
    return ended(2, std::string("fibocastd: ") + error.what() + "; `fibocastd --help` lists all flags\n");
  }
  return load(flags, environment);
}

}  // namespace fibocast

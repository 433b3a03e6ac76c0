#include "runtime/cli/plan_model.h"

#include "runtime/daemon/group_planner.h"
#include "runtime/daemon/settings_loader.h"

namespace fibocast {
namespace {

const char* no_environment(const char*) { return nullptr; }

std::string nanoseconds(double value) {
  return Rational(static_cast<std::uint64_t>(value * 1000 + 0.5), 1000).to_decimal_string() + "ns";
}

}  // namespace

std::optional<PlanModel> read_model(const std::string& file, std::string& error) {
  try {
    const Settings settings = load_settings(file, no_environment, {}).settings;
    const Settings::ModelSection& m = settings.model;
    PlanModel model;
    model.costs.s = std::to_string(m.s_ns) + "ns";
    model.costs.o = std::to_string(std::min(m.o_ns, m.r())) + "ns";
    model.costs.l = std::to_string(m.r() - std::min(m.o_ns, m.r())) + "ns";
    model.costs.c = nanoseconds(byte_costs(settings).send);
    model.costs.d = nanoseconds(byte_costs(settings).receive);
    model.costs.wake = std::to_string(m.wake_ns) + "ns";
    model.hosts = shared_hosts(settings);
    model.measured = parse_measured_choices(m.measured, error).value_or(std::vector<MeasuredChoice>());
    return model;
  } catch (const SettingsError& mistake) {
    error = mistake.what();
    return {};
  }
}

}  // namespace fibocast

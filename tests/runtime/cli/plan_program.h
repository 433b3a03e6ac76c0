// The subcommands of `fibocast plan`, called as the program calls them, and what a test asks of each: an answer as
// JSON, or a refusal.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "runtime/cli/plan_command.h"

namespace fibocast::test {

using Json = nlohmann::ordered_json;

struct PlanRun {
  int exit_code = -1;
  std::string out, err;
};

template <class Options>
PlanRun run(int (*command)(const Options&, std::ostream&, std::ostream&), const Options& options) {
  std::ostringstream out, err;
  const int exit_code = command(options, out, err);
  return {exit_code, out.str(), err.str()};
}

inline PlanRun run(const PlanTreeOptions& options) { return run(plan_tree, options); }
inline PlanRun run(const PlanScheduleOptions& options) { return run(plan_schedule, options); }
inline PlanRun run(const PlanAlphaTableOptions& options) { return run(plan_alpha_table, options); }
inline PlanRun run(const PlanCombineOptions& options) { return run(plan_combine, options); }
inline PlanRun run(const PlanWorkstationsOptions& options) { return run(plan_workstations, options); }
inline PlanRun run(const PlanFigureOptions& options) { return run(plan_figure, options); }
inline PlanRun run(const PlanWhyOptions& options) { return run(plan_why, options); }

template <class Options>
Json json(Options options) {
  options.json = true;
  const PlanRun result = run(options);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  return Json::parse(result.out);
}

// One sentence, nothing on stdout, exit code 2.
template <class Options>
std::string refusal(const Options& options) {
  const PlanRun result = run(options);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
  return result.err;
}

}  // namespace fibocast::test

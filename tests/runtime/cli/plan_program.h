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
inline PlanRun run(const PlanMeshOptions& options) { return run(plan_mesh, options); }
inline PlanRun run(const PlanFattreeOptions& options) { return run(plan_fattree, options); }

template <class Options>
Json json(Options options) {
  options.json = true;
  const PlanRun result = run(options);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  return Json::parse(result.out);
}

// One sentence, nothing on stdout, exit code 2. With --json it is one document there, and nothing on stderr.
inline std::string refusal_of(const PlanRun& text, const PlanRun& json) {
  EXPECT_EQ(text.exit_code, 2);
  EXPECT_EQ(text.out, "");
  EXPECT_EQ(text.err.find('\n'), text.err.size() - 1) << text.err;
  EXPECT_EQ(json.exit_code, 2);
  EXPECT_EQ(json.err, "");
  const Json document = Json::parse(json.out, nullptr, false);
  if (document.is_object()) {
    EXPECT_EQ(document["status"], "INVALID");
    EXPECT_EQ("fibocast: " + document["sentence"].get<std::string>() + "\n", text.err);
  } else {
    ADD_FAILURE() << "with --json no document: " << json.out;
  }
  return text.err;
}

template <class Options>
std::string refusal(Options options) {
  const PlanRun text = run(options);
  options.json = true;
  return refusal_of(text, run(options));
}

}  // namespace fibocast::test

#include "collectives/models/workstation_extraction.h"

#include <gtest/gtest.h>

#include "tests/collectives/golden.h"

namespace fibocast {
namespace {

constexpr double kRounding = 1e-9;

TEST(WorkstationExtraction, C5GoldenMeasurements) {
  for (const auto& entry : test::golden("hnow.json", "extract")) {
    const WorkstationMeasurement measured{entry["sizes"], entry["rtt"], entry["send8"], 8, entry["xc"], 0.08};
    std::string error;
    const ExtractedWorkstation type = extract_workstation(measured, error).value();
    EXPECT_NEAR(type.send, entry["Sc"].get<double>(), kRounding);
    EXPECT_NEAR(type.send_per_byte, entry["Sm"].get<double>(), kRounding);
    EXPECT_NEAR(type.receive, entry["Rc_corrected"].get<double>(), kRounding);
    EXPECT_NEAR(type.receive_paper, entry["Rc_paper_eq5"].get<double>(), kRounding);
    EXPECT_NEAR(type.receive_per_byte, entry["Rm"].get<double>(), kRounding);
  }
}

TEST(WorkstationExtraction, Refusals) {
  std::string error;
  EXPECT_FALSE(extract_workstation({}, error));
  EXPECT_NE(error, "");
  EXPECT_FALSE(extract_workstation({{0}, {1}, {1}}, error));
  EXPECT_FALSE(extract_workstation({{0, 1}, {1}, {1, 2}}, error));
  EXPECT_FALSE(extract_workstation({{1, 2}, {1, 2}, {1, 2}}, error));
  EXPECT_FALSE(extract_workstation({{0, 2, 2}, {1, 2, 3}, {1, 2, 3}}, error));
}

}  // namespace
}  // namespace fibocast

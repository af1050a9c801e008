#include "fairlead/base/metrics.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(PrometheusTextTest, FamiliesHaveOneHeadEach) {
  const std::vector<MetricSample> samples = {
      {"fairlead_a", "What a is.", MetricSample::Kind::kGauge, {{"of", "x"}}, 1},
      {"fairlead_a", "What a is.", MetricSample::Kind::kGauge, {{"of", "y"}, {"in", "z"}}, 0.5},
      {"fairlead_b_total", "B.", MetricSample::Kind::kCounter, {}, 7}};
  EXPECT_EQ(PrometheusText(samples),
            "# HELP fairlead_a What a is.\n"
            "# TYPE fairlead_a gauge\n"
            "fairlead_a{of=\"x\"} 1\n"
            "fairlead_a{of=\"y\",in=\"z\"} 0.5\n"
            "# HELP fairlead_b_total B.\n"
            "# TYPE fairlead_b_total counter\n"
            "fairlead_b_total 7\n");
}

TEST(PrometheusTextTest, EscapesWhatWouldEndAValueOrALine) {
  const std::vector<MetricSample> samples = {
      {"m", "a \\ and\na \" line", MetricSample::Kind::kGauge, {{"l", "q\"b\\n\nend"}}, 1}};
  EXPECT_EQ(PrometheusText(samples),
            "# HELP m a \\\\ and\\na \" line\n"
            "# TYPE m gauge\n"
            "m{l=\"q\\\"b\\\\n\\nend\"} 1\n");
}

TEST(PrometheusTextTest, CountersKeepEveryDigit) {
  const std::vector<MetricSample> samples = {{"m", "", MetricSample::Kind::kCounter, {}, 12345678901}};
  EXPECT_NE(PrometheusText(samples).find("m 12345678901\n"), std::string::npos) << PrometheusText(samples);
}

}  // namespace
}  // namespace fairlead

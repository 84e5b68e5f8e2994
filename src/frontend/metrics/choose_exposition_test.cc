// SPDX-License-Identifier: Apache-2.0
#include "frontend/metrics/choose_exposition.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid::frontend::metrics {
namespace {

using telemetry::Exposition;

TEST(ChooseExpositionTest, IsTextUnlessOpenMetricsIsNamed) {
  for (const char* const accept :
       {"", "*/*", "text/plain", "application/*", "text/html, */*;q=0.1", ",,;;=,", "q=1",
        "application/openmetrics-text;q=0", "application/openmetrics-text;q=x",
        "application/openmetrics-text;q=", "application/openmetrics-text;q=2",
        "application/openmetrics-text;version=2.0.0",
        "application/openmetrics-text;q=0.1, text/plain;q=0.2"}) {
    EXPECT_EQ(ChooseExposition(accept), Exposition::kPrometheusText) << accept;
  }
}

TEST(ChooseExpositionTest, IsOpenMetricsIfThatIsPreferred) {
  for (const char* const accept :
       {"application/openmetrics-text", "APPLICATION/OpenMetrics-Text ; Version=\"1.0.0\"",
        "application/openmetrics-text;version=0.0.1;q=0.001",
        "text/plain,application/openmetrics-text",
        // what Prometheus sends
        "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
        "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;q=0.4,"
        "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"}) {
    EXPECT_EQ(ChooseExposition(accept), Exposition::kOpenMetrics) << accept;
  }
}

TEST(ChooseExpositionTest, SurvivesAnyText) {
  const std::string accept(100'000, ';');
  EXPECT_EQ(ChooseExposition(accept), Exposition::kPrometheusText);
  EXPECT_EQ(ChooseExposition(std::string(100'000, ',')), Exposition::kPrometheusText);
}

}  // namespace
}  // namespace nereid::frontend::metrics

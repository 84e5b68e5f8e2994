// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/tools/tool.h"

namespace nereid::app::tools {
namespace {

using ::testing::HasSubstr;

ToolResult Ask(std::vector<std::string> words) { return RunRoutes(words, {}); }

TEST(RoutesTool, ListsEveryFrontEnd) {
  const std::string text = Ask({}).out;
  EXPECT_THAT(text, HasSubstr("http      POST   inference        infer,manage         "
                              "/v2/models/{model}[/versions/{version}]/infer\n"));
  EXPECT_THAT(text, HasSubstr("http      GET    health           everyone             "
                              "/v2/health/live\n"));
  EXPECT_THAT(text, HasSubstr("http      GET    health           observe,manage       "
                              "/v2/health/ready?reason=true\n"));
  EXPECT_THAT(text, HasSubstr("http      DELETE model-repository manage               "
                              "/v2/drain\n"));
  EXPECT_THAT(text, HasSubstr("grpc             trace            manage               "
                              "/inference.GRPCInferenceService/TraceSetting (changes)\n"));
  EXPECT_THAT(text, HasSubstr("metrics   GET                     observe,manage       /metrics\n"));
  EXPECT_THAT(text, HasSubstr("sagemaker DELETE model-repository manage               "
                              "/models/{model}\n"));
  EXPECT_THAT(text, HasSubstr("vertex-ai POST   inference        infer,manage         "
                              "{AIP_PREDICT_ROUTE}\n"));
}

TEST(RoutesTool, IsReadableByPrograms) {
  EXPECT_THAT(Ask({"--format=json"}).out,
              HasSubstr(R"({"protocol":"grpc","method":"","path":"/grpc.health.v1.Health/Check",)"
                        R"("operation":"server-ready","category":"health",)"
                        R"("roles":["infer","observe","manage"],"probe":true,"public":false,)"
                        R"("change":false})"));
  EXPECT_THAT(Ask({"--format=json"}).out,
              HasSubstr(R"({"protocol":"console","method":"GET","path":"/[console/files/{file}]",)"
                        R"("operation":"console-page","category":"",)"
                        R"("roles":["infer","observe","manage"],"probe":false,"public":true,)"
                        R"("change":false})"));
}

TEST(RoutesTool, SaysWhatIsWrong) {
  EXPECT_THAT(Ask({"--format=xml"}).errors, HasSubstr("--format must be text or json. Got xml"));
  EXPECT_THAT(Ask({"x"}).errors, HasSubstr("expected no words"));
  EXPECT_THAT(Ask({"--help"}).out, HasSubstr("Usage: nereid routes"));
}

}  // namespace
}  // namespace nereid::app::tools

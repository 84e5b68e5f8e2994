// SPDX-License-Identifier: Apache-2.0
// tests/conformance/test_openapi.py validates whole documents; here are the corners of models.
#include "codec/json/openapi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "codec/json/cursor.h"

namespace nereid::codec::json {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

bool IsJson(const std::string& text) {
  Cursor cursor(text);
  return cursor.Peek() == '{' && cursor.SkipValue().ok() && cursor.ExpectEnd().ok();
}

OpenApiModel Model() {
  OpenApiModel model;
  model.metadata = {"m", {"1"}, "p", {{"in", "FP32", {-1, 2}}}, {{"out", "BYTES", {}}}};
  model.server_version = "2.51.0";
  return model;
}

TEST(OpenApi, AModelHasAnExample) {
  const std::string text = EncodeModelOpenApi(Model());
  EXPECT_TRUE(IsJson(text)) << text;
  EXPECT_THAT(text, HasSubstr(R"("/v2/models/m/infer":{"post":{"operationId":"infer")"));
  EXPECT_THAT(text, HasSubstr(R"("example":{"inputs":[{"name":"in","datatype":"FP32",)"
                              R"("shape":[1,2],"data":[0,0]}]})"));
  EXPECT_THAT(text, HasSubstr(R"("shape":{"type":"array","minItems":2,"maxItems":2,)"
                              R"("prefixItems":[{"type":"integer","minimum":0},{"const":2}]})"));
  EXPECT_THAT(text, HasSubstr(R"("shape":{"type":"array","minItems":0,"maxItems":0})"));
  EXPECT_THAT(text, HasSubstr(R"("x-nereid-roles":["infer","manage"])"));
}

TEST(OpenApi, TheNameIsEncodedInPaths) {
  OpenApiModel model = Model();
  model.metadata.name = "a {b}/c";
  EXPECT_THAT(EncodeModelOpenApi(model), HasSubstr(R"("/v2/models/a%20%7Bb%7D%2Fc/infer")"));
}

TEST(OpenApi, VersionsSequencesAndOptionalInputs) {
  OpenApiModel model = Model();
  model.version = "3";
  model.has_sequences = true;
  model.metadata.inputs.push_back({"more\"", "FP16", {1 << 30}});
  model.optional_inputs = {"more\""};
  const std::string text = EncodeModelOpenApi(model);
  EXPECT_TRUE(IsJson(text)) << text;
  EXPECT_THAT(text, HasSubstr(R"("/v2/models/m/versions/3/infer")"));
  EXPECT_THAT(text, HasSubstr(R"("example":{"parameters":{"sequence_id":1,)"));
  EXPECT_THAT(text, HasSubstr(R"("minItems":1,"maxItems":2)"));
}

TEST(OpenApi, NoExampleThatCannotWork) {
  OpenApiModel model = Model();
  model.metadata.inputs[0].datatype = "FP16";
  EXPECT_THAT(EncodeModelOpenApi(model), Not(HasSubstr("example")));
  model.metadata.inputs[0] = {"in", "FP32", {kMaxExampleElements + 1}};
  EXPECT_THAT(EncodeModelOpenApi(model), Not(HasSubstr("example")));
  model.metadata.inputs[0] = {"in", "FP32", {int64_t{1} << 40, int64_t{1} << 40}};
  EXPECT_THAT(EncodeModelOpenApi(model), Not(HasSubstr("example")));
  model.metadata.inputs.clear();
  EXPECT_TRUE(IsJson(EncodeModelOpenApi(model)));
}

TEST(OpenApi, ADecoupledModelAnswersWithEvents) {
  OpenApiModel model = Model();
  model.decoupled = true;
  const std::string text = EncodeModelOpenApi(model);
  EXPECT_TRUE(IsJson(text)) << text;
  EXPECT_THAT(text, Not(HasSubstr("/infer\"")));
  EXPECT_THAT(text, HasSubstr(R"("example":{"in":[0,0]})"));
}

TEST(OpenApi, ServersListTheirRoutes) {
  const OpenApiRoute routes[] = {
      {"/v2", "get", api::Operation::kServerMetadata},
      {"/v2/models/{model}/infer", "post", api::Operation::kInfer},
      {"/v2/drain", "get", api::Operation::kDrainRead},
      {"/v2/drain", "delete", api::Operation::kDrainChange},
  };
  const std::string text = EncodeServerOpenApi({"triton", "2.51.0", {}}, routes);
  EXPECT_TRUE(IsJson(text)) << text;
  EXPECT_THAT(text, HasSubstr(R"("operationId":"post_v2_models_model_infer")"));
  EXPECT_THAT(text, HasSubstr(R"({"name":"model","in":"path","required":true,)"));
  EXPECT_TRUE(IsJson(EncodeServerOpenApi({"triton", "2.51.0", {}}, {})));
}

}  // namespace
}  // namespace nereid::codec::json

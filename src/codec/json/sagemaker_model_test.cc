// SPDX-License-Identifier: Apache-2.0
#include "codec/json/sagemaker_model.h"

#include <gtest/gtest.h>

namespace nereid::codec::json {
namespace {

TEST(SagemakerModel, LoadRequestsAreRead) {
  const auto model =
      DecodeSagemakerLoad(R"({"url":"/opt/ml/models/h/model","more":[1],"model_name":"h"})");
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->name, "h");
  EXPECT_EQ(model->url, "/opt/ml/models/h/model");
  EXPECT_EQ(DecodeSagemakerLoad(R"({"url":"a","url":"b","model_name":"h"})")->url, "a");
}

TEST(SagemakerModel, OtherLoadRequestsAreRefused) {
  for (const char* json :
       {"", "[]", "1", "{", R"({"url":"a","model_name":"h"}x)", R"({"url":1,"model_name":"h"})",
        R"({"url":"a","model_name":null})", R"({"url":["a"],"model_name":"h"})"}) {
    EXPECT_FALSE(DecodeSagemakerLoad(json).ok()) << json;
  }
  EXPECT_EQ(DecodeSagemakerLoad(R"({"url":"a"})").status().message(),
            "the request to load a model has no 'model_name' field");
  EXPECT_EQ(DecodeSagemakerLoad(R"({"model_name":"a"})").status().message(),
            "the request to load a model has no 'url' field");
}

TEST(SagemakerModel, RepliesAreWritten) {
  EXPECT_EQ(EncodeSagemakerModel({"a\"b", "/\xff"}), R"({"modelName":"a\"b","modelUrl":"/)"
                                                     "\xef\xbf\xbd"
                                                     R"("})");
  EXPECT_EQ(EncodeSagemakerModels({}, ""), R"({"models":[]})");
  EXPECT_EQ(EncodeSagemakerModels({{"a", "/a"}, {"b", "/b"}}, "62"),
            R"({"models":[{"modelName":"a","modelUrl":"/a"},{"modelName":"b","modelUrl":"/b"}],)"
            R"("nextPageToken":"62"})");
}

}  // namespace
}  // namespace nereid::codec::json

// SPDX-License-Identifier: Apache-2.0
#include "codec/json/model_loads.h"

#include <gtest/gtest.h>

namespace nereid::codec::json {
namespace {

TEST(ModelLoadsTest, AModelThatIsLoaded) {
  api::ModelLoads loads{.model = "m", .waiting = 2, .successes = 3};
  loads.current = {.stage = "loading",
                   .elapsed_ms = 1500,
                   .version = 7,
                   .versions_done = 1,
                   .versions = 2,
                   .attempt = 3};
  EXPECT_EQ(EncodeModelLoads(loads),
            R"({"model":"m","state":"loading","waiting":2,"elapsed_ms":1500,"version":7,)"
            R"("attempt":3,"versions_done":1,"versions":2,"succeeded":3,"failed":0})");
  loads.current = {.stage = "reading", .elapsed_ms = 5, .progress = "1 of 2"};
  EXPECT_EQ(EncodeModelLoads(loads),
            R"({"model":"m","state":"reading","waiting":2,"elapsed_ms":5,"progress":"1 of 2",)"
            R"("succeeded":3,"failed":0})");
}

TEST(ModelLoadsTest, TheLastLoad) {
  api::ModelLoads loads{.model = "m", .successes = 1, .failures = 1};
  loads.last = {.error = "bad \"file\"", .duration_ms = 10, .wall_ms = 1000};
  EXPECT_EQ(EncodeModelLoads(loads),
            R"({"model":"m","state":"idle","waiting":0,"last":{"result":"failed",)"
            R"("error":"bad \"file\"","duration_ms":10,"unix_ms":1000},"succeeded":1,"failed":1})");
  loads.last->error.clear();
  EXPECT_EQ(EncodeModelLoads(loads),
            R"({"model":"m","state":"idle","waiting":0,"last":{"result":"loaded",)"
            R"("duration_ms":10,"unix_ms":1000},"succeeded":1,"failed":1})");
}

}  // namespace
}  // namespace nereid::codec::json

// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/route.h"

#include <gtest/gtest.h>

namespace nereid::frontend::http {
namespace {

TEST(Route, EveryEndpoint) {
  EXPECT_EQ(FindRoute("/v2").endpoint, Endpoint::kServerMetadata);
  EXPECT_EQ(FindRoute("/v2/health/live").endpoint, Endpoint::kServerLive);
  EXPECT_EQ(FindRoute("/v2/health/ready").endpoint, Endpoint::kServerReady);
  EXPECT_EQ(FindRoute("/v2/drain").endpoint, Endpoint::kDrain);
  EXPECT_EQ(FindRoute("/v2/sequences/claim").endpoint, Endpoint::kSequenceClaim);
  EXPECT_EQ(FindRoute("/v2/sequences/settle").endpoint, Endpoint::kSequenceSettle);
  EXPECT_EQ(FindRoute("/v2/sequences/offer").endpoint, Endpoint::kSequenceOffer);
  EXPECT_EQ(FindRoute("/v2/sequences").endpoint, Endpoint::kUnknown);
  EXPECT_EQ(FindRoute("/v2/sequences/claim/x").endpoint, Endpoint::kUnknown);
  EXPECT_EQ(FindRoute("/v2/models/m").endpoint, Endpoint::kModelMetadata);
  EXPECT_EQ(FindRoute("/v2/models/m/ready").endpoint, Endpoint::kModelReady);
  EXPECT_EQ(FindRoute("/v2/models/m/config").endpoint, Endpoint::kModelConfig);
  EXPECT_EQ(FindRoute("/v2/models/m/stats").endpoint, Endpoint::kStatistics);
  EXPECT_EQ(FindRoute("/v2/models/m/versions/2/sequences").endpoint, Endpoint::kSequences);
  EXPECT_EQ(FindRoute("/v2/models/m/infer").endpoint, Endpoint::kInfer);
  EXPECT_EQ(FindRoute("/v2/models/m/generate").endpoint, Endpoint::kGenerate);
  EXPECT_EQ(FindRoute("/v2/models/m/generate_stream").endpoint, Endpoint::kGenerateStream);
  EXPECT_EQ(FindRoute("/v2/models/m/trace/setting").endpoint, Endpoint::kTraceSetting);
  EXPECT_EQ(FindRoute("/v2/trace/setting").endpoint, Endpoint::kTraceSetting);
  EXPECT_EQ(FindRoute("/v2/logging").endpoint, Endpoint::kLogging);
  EXPECT_EQ(FindRoute("/v2/repository/index").endpoint, Endpoint::kRepositoryIndex);
  EXPECT_EQ(FindRoute("/v2/repository/models/m/load").endpoint, Endpoint::kModelLoad);
  EXPECT_EQ(FindRoute("/v2/repository/models/m/unload").endpoint, Endpoint::kModelUnload);
  EXPECT_EQ(FindRoute("/v2/repository/models/m/rollout").endpoint, Endpoint::kRollout);
  EXPECT_EQ(FindRoute("/v2/systemsharedmemory/status").endpoint, Endpoint::kSharedMemoryStatus);
  EXPECT_EQ(FindRoute("/v2/cudasharedmemory/region/r/register").endpoint,
            Endpoint::kSharedMemoryRegister);
}

TEST(Route, ModelAndVersion) {
  const Route route = FindRoute("/v2/models/a b/versions/12/infer");
  EXPECT_EQ(route.endpoint, Endpoint::kInfer);
  EXPECT_EQ(route.model, "a b");
  EXPECT_EQ(route.version, "12");
  EXPECT_EQ(FindRoute("/v2/models/m/versions/1").endpoint, Endpoint::kModelMetadata);
  EXPECT_EQ(FindRoute("/v2/models/m/versions/stable.2_b-c/ready").version, "stable.2_b-c");
}

TEST(Route, HealthOfKservesOlderProtocol) {
  EXPECT_EQ(FindRoute("/").endpoint, Endpoint::kV1Live);
  const Route route = FindRoute("/v1/models/m");
  EXPECT_EQ(route.endpoint, Endpoint::kV1ModelReady);
  EXPECT_EQ(route.model, "m");
}

TEST(Route, StatsOfAllModelsComesFirst) {
  const Route route = FindRoute("/v2/models/stats");
  EXPECT_EQ(route.endpoint, Endpoint::kStatistics);
  EXPECT_EQ(route.model, "");
  EXPECT_EQ(FindRoute("/v2/models/stats/infer").model, "stats");
}

TEST(Route, RepositoryName) {
  const Route route = FindRoute("/v2/repository/r/models/m/load");
  EXPECT_EQ(route.endpoint, Endpoint::kModelLoad);
  EXPECT_EQ(route.repository, "r");
  EXPECT_EQ(route.model, "m");
  EXPECT_EQ(FindRoute("/v2/repository/r/index").endpoint, Endpoint::kRepositoryIndex);
}

TEST(Route, SharedMemory) {
  const Route all = FindRoute("/v2/systemsharedmemory/unregister");
  EXPECT_EQ(all.endpoint, Endpoint::kSharedMemoryUnregister);
  EXPECT_FALSE(all.is_cuda);
  EXPECT_EQ(all.region, "");
  RequestPath path;
  ASSERT_TRUE(path.Assign("/v2/cudasharedmemory/region/a%2Fb/status"));
  const Route one = FindRoute(path.view());
  EXPECT_EQ(one.endpoint, Endpoint::kSharedMemoryStatus);
  EXPECT_TRUE(one.is_cuda);
  EXPECT_EQ(one.region, "a/b");
  EXPECT_EQ(FindRoute("/v2/systemsharedmemory/region/region/register").region, "region");
}

TEST(Route, AnEscapedSlashBelongsToItsSegment) {
  for (const char* target : {"/v2/models/m%2Finfer", "/v2%2Fmodels/m/infer", "/v2/models%2Fm/infer",
                             "/v2/health%2Flive", "%2Fv2", "/v1/models%2Fm"}) {
    RequestPath path;
    ASSERT_TRUE(path.Assign(target));
    const Endpoint endpoint = FindRoute(path.view()).endpoint;
    EXPECT_EQ(endpoint, path.view().text() == "/v2/models/m/infer" &&
                                std::string_view(target) == "/v2/models/m%2Finfer"
                            ? Endpoint::kModelMetadata
                            : Endpoint::kUnknown)
        << target;
  }
}

TEST(Route, UnknownPaths) {
  for (const char* path : {"",
                           "/v1",
                           "/v1/",
                           "/v1/models",
                           "/v1/models/",
                           "/v1/models/m/",
                           "/v1/models/m:predict/x",
                           "/v1/health/live",
                           "/v2/",
                           "/V2",
                           "/v2x",
                           "//v2",
                           "/v2/models",
                           "/v2/models/",
                           "/v2/models/m/",
                           "/v2/models//infer",
                           "/v2/models/m/versions",
                           "/v2/models/m/versions/1x/infer",
                           "/v2/models/m/versions/-x/infer",
                           "/v2/models/m/versions/x%20/infer",
                           "/v2/models/m/versions/1/",
                           "/v2/models/m/versions/1/trace/setting",
                           "/v2/models/m/other",
                           "/v2/models/m/infer/x",
                           "/v2/health",
                           "/v2/health/live/",
                           "/v2/repository",
                           "/v2/repository/models/m",
                           "/v2/repository/models/m/reload",
                           "/v2/trace",
                           "/v2/systemsharedmemory",
                           "/v2/systemsharedmemory/region/r",
                           "/v2/systemsharedmemory/region//status",
                           "/v2/systemsharedmemory/region/status",
                           "/v2/systemsharedmemory/region/a/b/status",
                           "/v2/systemsharedmemory/other",
                           "/v2/cudasharedmemory/status/",
                           "v2"}) {
    EXPECT_EQ(FindRoute(path).endpoint, Endpoint::kUnknown) << path;
  }
}

}  // namespace
}  // namespace nereid::frontend::http

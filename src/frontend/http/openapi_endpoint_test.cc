// SPDX-License-Identifier: Apache-2.0
// The paths of the documents are those that the routes serve.
#include "frontend/http/openapi_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace nereid::frontend::http {
namespace {

using ::testing::ElementsAre;

TEST(PathsOfForm, EveryPartInBracketsMayBeAbsent) {
  EXPECT_THAT(PathsOfForm("/v2"), ElementsAre("/v2"));
  EXPECT_THAT(PathsOfForm("/v2/models[/{model}[/versions/{version}]]/stats"),
              ElementsAre("/v2/models/stats", "/v2/models/{model}/stats",
                          "/v2/models/{model}/versions/{version}/stats"));
  EXPECT_THAT(
      PathsOfForm("/v2/(system|cuda)sharedmemory[/region/{region}]/status"),
      ElementsAre("/v2/systemsharedmemory/status", "/v2/systemsharedmemory/region/{region}/status",
                  "/v2/cudasharedmemory/status", "/v2/cudasharedmemory/region/{region}/status"));
}

std::string Filled(std::string path) {
  for (size_t at = path.find('{'); at != path.npos; at = path.find('{')) {
    const size_t end = path.find('}', at);
    path.replace(at, end - at + 1, "1");
  }
  return path;
}

TEST(PathsOfForm, EveryPathHasItsRoute) {
  std::set<std::string> all;
  for (const EndpointSpec& spec : AllEndpoints()) {
    for (const std::string& path : PathsOfForm(spec.form)) {
      EXPECT_EQ(FindRoute(Filled(path)).endpoint, spec.endpoint) << path;
      EXPECT_TRUE(all.insert(path).second) << path;
    }
  }
}

}  // namespace
}  // namespace nereid::frontend::http

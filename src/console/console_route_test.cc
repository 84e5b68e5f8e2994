// SPDX-License-Identifier: Apache-2.0
#include "console/console_route.h"

#include <gtest/gtest.h>

namespace nereid::console {
namespace {

TEST(ConsoleRoute, FindsPaths) {
  EXPECT_EQ(FindConsolePath("/").name, "index.html");
  EXPECT_EQ(FindConsolePath("/console/files/app.js").name, "app.js");
  EXPECT_EQ(FindConsolePath("/console/v1/events").endpoint, ConsoleEndpoint::kEvents);
  EXPECT_EQ(FindConsolePath("/console/v1/log/events").endpoint, ConsoleEndpoint::kLogEvents);
  const ConsolePath model = FindConsolePath("/console/v1/models/a b/explain");
  EXPECT_EQ(model.endpoint, ConsoleEndpoint::kExplain);
  EXPECT_EQ(model.name, "a b");
  EXPECT_EQ(FindConsolePath("/console/v1/traces/00ff").name, "00ff");
}

TEST(ConsoleRoute, OtherPathsHaveNoEndpoint) {
  for (const char* path :
       {"", "/x", "/console", "/console/v1/", "/console/v1/models", "/console/v1/models/m",
        "/console/v1/models//state", "/console/v1/models/a/b/state", "/console/v1/models/state",
        "/console/v1/models/m/other", "/console/v1/traces/", "/console/v1/traces/a/b", "/v2"}) {
    EXPECT_EQ(FindConsolePath(path).endpoint, ConsoleEndpoint::kUnknown) << path;
  }
}

TEST(ConsoleRoute, EveryFormLeadsToItsEndpoint) {
  for (const ConsoleRoute& route : AllConsoleRoutes()) {
    EXPECT_EQ(&RouteOf(route.endpoint), &route);
    EXPECT_EQ(RouteOf(route.endpoint).form, route.form);
    if (route.endpoint == ConsoleEndpoint::kPage) continue;  // two paths
    EXPECT_EQ(FindConsolePath(route.form).endpoint, route.endpoint) << route.form;
  }
}

}  // namespace
}  // namespace nereid::console

// SPDX-License-Identifier: Apache-2.0
#include "framework/version_file.h"

#include <gtest/gtest.h>

namespace nereid::framework {
namespace {

std::string Find(const std::string& name) {
  backend::ModelConfig config;
  config.name = "m";
  config.directory = "/models/m";
  config.version = 3;
  config.default_model_filename = name;
  std::filesystem::path path;
  const Error error = FindVersionFile(config, "model.pt", &path);
  return error.ok() ? path.string() : error.message();
}

TEST(FindVersionFile, IsInTheVersionsFolder) {
  EXPECT_EQ(Find(""), "/models/m/3/model.pt");
  EXPECT_EQ(Find("net.pt"), "/models/m/3/net.pt");
  EXPECT_EQ(Find("parts/net..pt"), "/models/m/3/parts/net..pt");
}

TEST(FindVersionFile, RefusesWhatLeadsOut) {
  for (const std::string name : {"/etc/passwd", "..", "../1/net.pt", "parts/../../net.pt"}) {
    EXPECT_EQ(Find(name),
              "model 'm': default_model_filename '" + name + "' leads out of the version's folder");
  }
}

}  // namespace
}  // namespace nereid::framework

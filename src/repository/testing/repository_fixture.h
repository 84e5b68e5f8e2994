// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/temporary_directory.h"
#include "repository/model_lifecycle.h"
#include "repository/testing/fake_loader.h"

namespace nereid::repository {

/// A repository in a temporary directory, and a loader that creates models without content.
class RepositoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto directory = base::TemporaryDirectory::Create();
    ASSERT_TRUE(directory.ok()) << directory.status().message();
    directory_ = std::move(directory).value();
    root_ = directory_->path();
    options_.poll.repositories = {root_.string()};
  }

  void Write(const std::string& model, const std::string& config,
             const std::vector<std::string>& versions) {
    std::filesystem::create_directories(root_ / model);
    for (const std::string& version : versions) {
      std::filesystem::create_directories(root_ / model / version);
    }
    WriteFile(model + "/config.pbtxt", config);
  }
  /// Writes a file. Each call gives it a later modification time.
  void WriteFile(const std::string& path, const std::string& content) {
    std::ofstream(root_ / path) << content;
    std::filesystem::last_write_time(
        root_ / path, std::filesystem::file_time_type::clock::now() + std::chrono::seconds(++age_));
  }
  /// Returns a line for each entry. Of the reason of a failed reload only the beginning is in it.
  std::string IndexText(const ModelLifecycle& lifecycle, bool ready_only = false) {
    std::string text;
    const auto index = lifecycle.Index(ready_only);
    for (const IndexEntry& entry : *index) {
      const bool is_reload = entry.state == "READY" && !entry.reason.empty();
      text += entry.name + "/" + entry.version + "/" + entry.state + "/" +
              (is_reload ? entry.reason.substr(0, entry.reason.find(':')) : entry.reason) + "\n";
    }
    return text;
  }

  std::unique_ptr<base::TemporaryDirectory> directory_;
  std::filesystem::path root_;
  ModelLifecycle::Options options_;
  FakeLoader loader_;
  int age_ = 0;
};

}  // namespace nereid::repository

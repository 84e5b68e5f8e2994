// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/temporary_directory.h"
#include "repository/mirror/blob_cache.h"
#include "repository/mirror/model_mirror.h"
#include "repository/storage/testing/fake_object_store.h"

namespace nereid::repository::mirror {

/// A store in memory, a cache in a temporary directory, and a clock that only sleeps move.
class MirrorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto directory = base::TemporaryDirectory::Create();
    ASSERT_TRUE(directory.ok()) << directory.status().message();
    directory_ = std::move(directory).value();
    cache_path_ = directory_->path() + "/cache";
    options_.clock = &clock_;
    options_.sleep = [this](uint64_t ns) { clock_.Advance(ns); };
  }

  std::unique_ptr<BlobCache> OpenCache(uint64_t max_bytes = 0,
                                       FileOperations& files = SystemFileOperations()) {
    auto cache = BlobCache::Open({cache_path_, max_bytes}, files);
    EXPECT_TRUE(cache.ok()) << cache.status().message();
    return cache.ok() ? std::move(cache).value() : nullptr;
  }
  std::unique_ptr<ModelMirror> NewMirror(uint64_t max_bytes = 0,
                                         FileOperations& files = SystemFileOperations()) {
    return std::make_unique<ModelMirror>(OpenCache(max_bytes, files), options_);
  }
  RemoteModel Model(const std::string& name = "m") {
    return {store_, "s3://bucket", name + "/", "s3://bucket/" + name};
  }

  /// Returns the files below a directory with their contents; directories end with '/'.
  static std::map<std::string, std::string> Tree(const std::string& root) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      const std::string path = entry.path().lexically_relative(root).string();
      if (entry.is_directory()) {
        files[path + "/"] = "";
        continue;
      }
      std::ifstream in(entry.path(), std::ios::binary);
      files[path] = {std::istreambuf_iterator<char>(in), {}};
    }
    return files;
  }
  /// Returns the number of files below a part of the cache.
  size_t CountFiles(const std::string& part) {
    size_t count = 0;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(cache_path_ + "/" + part)) {
      count += entry.is_regular_file() ? 1 : 0;
    }
    return count;
  }

  std::unique_ptr<base::TemporaryDirectory> directory_;
  std::string cache_path_;
  storage::FakeObjectStore store_;
  base::FakeClock clock_;
  ModelMirror::Options options_;
};

}  // namespace nereid::repository::mirror

// SPDX-License-Identifier: Apache-2.0
#include "cache/model_fingerprint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "config/complete/complete.h"
#include "config/parse/parse.h"

namespace nereid::cache {
namespace {

namespace fs = std::filesystem;

class ModelFingerprintTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("nereid_fingerprint_" + std::to_string(getpid()));
    fs::create_directories(root_ / "1" / "sub");
    Write("1/model.bin", "weights");
    Write("1/sub/extra", "more");
    Write("vocabulary", "words");
    Write("config.pbtxt", "not looked at");
  }
  void TearDown() override { fs::remove_all(root_); }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(root_ / name) << text;
  }
  std::string Fingerprint(const std::string& config = "", const std::string& version = "1") {
    auto parsed = config::ParseModelConfigText(R"(name: "m" backend: "b" )" + config, "test");
    const auto value = config::NormalizeModelConfig(*parsed.value());
    const auto digest = FingerprintModel(*value, root_.string(), (root_ / version).string());
    return digest.ok() ? ToHex(*digest) : digest.status().message();
  }
  fs::path root_;
};

TEST_F(ModelFingerprintTest, DependsOnFilesAndTheirNames) {
  const std::string first = Fingerprint();
  EXPECT_EQ(first.size(), 64u);
  Write("1/model.bin", "weighty");
  const std::string changed = Fingerprint();
  EXPECT_NE(changed, first);
  Write("1/model.bin", "weights");
  EXPECT_EQ(Fingerprint(), first) << "the same content again, at another time";
  fs::rename(root_ / "1/sub/extra", root_ / "1/sub/other");
  EXPECT_NE(Fingerprint(), first);
  fs::rename(root_ / "1/sub/other", root_ / "1/sub/extra");
  Write("vocabulary", "other words");
  EXPECT_NE(Fingerprint(), first);
}

TEST_F(ModelFingerprintTest, IsKnownOnceItWasComputed) {
  const auto config = config::NormalizeModelConfig(
      **config::ParseModelConfigText(R"(name: "m" backend: "b")", "test"));
  ContentFingerprint content(config, root_.string(), (root_ / "1").string());
  EXPECT_FALSE(content.Known());
  const auto computed = content.Compute();
  ASSERT_TRUE(computed.ok());
  EXPECT_EQ(ToHex(*computed), Fingerprint());
  Write("1/model.bin", "other weights");
  EXPECT_EQ(content.Known(), *computed) << "the version answers with the files that it has loaded";
}

TEST_F(ModelFingerprintTest, FilesThatWereChangedAfterTheLoadHaveNone) {
  const auto config = config::NormalizeModelConfig(
      **config::ParseModelConfigText(R"(name: "m" backend: "b")", "test"));
  ContentFingerprint content(config, root_.string(), (root_ / "1").string());
  Write("1/model.bin", "other weights");
  EXPECT_EQ(content.Compute().status().code(), base::StatusCode::kUnavailable);
  EXPECT_FALSE(content.Known());
}

TEST_F(ModelFingerprintTest, OmitsFieldsThatDoNotAffectResults) {
  const std::string first = Fingerprint();
  fs::create_directories(root_ / "1" / "__pycache__");
  Write("1/__pycache__/model.pyc", "compiled");
  Write("config.pbtxt", "another text of the same");
  fs::create_directories(root_ / "2");
  Write("2/model.bin", "of another version");
  EXPECT_EQ(Fingerprint(), first);
  EXPECT_EQ(Fingerprint("instance_group { count: 2 kind: KIND_CPU }"), first);
  EXPECT_EQ(Fingerprint("dynamic_batching { }"), first);
  EXPECT_EQ(Fingerprint("response_cache { enable: true }"), first);
}

TEST_F(ModelFingerprintTest, DependsOnTheConfiguration) {
  const auto parameter = [](const std::string& value) {
    return R"(parameters { key: "k" value { string_value: ")" + value + R"(" } })";
  };
  EXPECT_NE(Fingerprint(parameter("a")), Fingerprint());
  EXPECT_NE(Fingerprint(parameter("a")), Fingerprint(parameter("b")));
  EXPECT_NE(Fingerprint("max_batch_size: 2"), Fingerprint());
}

TEST_F(ModelFingerprintTest, AModelMayHaveNoFiles) {
  EXPECT_EQ(Fingerprint("", "absent").size(), 64u);
  EXPECT_NE(Fingerprint("", "absent"), Fingerprint());
}

}  // namespace
}  // namespace nereid::cache

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "testing/fake_server.h"

namespace nereid::custom::testing {

/// A fake server with one custom model, whose library is one of tests/plugins. No test may leave
/// an object of the server behind.
class CustomTest : public ::testing::Test {
 protected:
  CustomTest()
      : repository_(
            std::filesystem::temp_directory_path() /
            ("nereid_custom_" +
             std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    std::filesystem::remove_all(repository_);
    std::filesystem::create_directories(repository_ / "m" / "1");
    server_.model().directory = (repository_ / "m").string();
  }
  ~CustomTest() override { std::filesystem::remove_all(repository_); }

  void TearDown() override {
    backend::testing::Faults() = {};
    EXPECT_EQ(backend::testing::LiveErrors(), 0);
    EXPECT_EQ(backend::testing::LiveMessages(), 0);
    EXPECT_EQ(backend::testing::LiveResponses(), 0);
  }

  static std::string Tensor(const std::string& name, const std::string& type,
                            const std::string& dims) {
    return R"({"name":")" + name + R"(","data_type":")" + type + R"(","dims":[)" + dims + "]}";
  }

  /// Loads libcustom_`library`.so under the model's default file name; the text of the failure.
  /// `more` follows the tensors in the configuration.
  std::string Load(const std::string& library, const std::string& inputs,
                   const std::string& outputs, const std::string& more = "",
                   int max_batch_size = 8) {
    const auto file = repository_ / "m" / "1" / "libcustom.so";
    std::filesystem::remove(file);
    std::filesystem::create_symlink(
        std::filesystem::path(CUSTOM_LIBRARIES) / ("libcustom_" + library + ".so"), file);
    server_.model().config = R"({"name":"m","platform":"custom","max_batch_size":)" +
                             std::to_string(max_batch_size) + R"(,"input":[)" + inputs +
                             R"(],"output":[)" + outputs + "]" + more + "}";
    return server_.Load();
  }

  std::string LibraryPath() const { return (repository_ / "m" / "1" / "libcustom.so").string(); }

  std::filesystem::path repository_;
  backend::testing::FakeServer server_;
};

}  // namespace nereid::custom::testing

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

#include "fake_tensorrt.h"
#include "testing/fake_server.h"

namespace nereid::tensorrt::testing {

/// A fake TensorRT on three fake GPUs, and a plug-in that loads plans of it. Nothing may be left on
/// a GPU after a test, and no run may have read beyond a tensor.
class TensorRtTest : public ::testing::Test {
 protected:
  TensorRtTest();
  ~TensorRtTest() override;

  FakeTensorRt& fake() { return *nereid_fake_tensorrt(); }
  backend::testing::FakeServer& server() { return *server_; }
  /// Unloads the model.
  void Unload();

  std::string Path(const std::string& file = "model.plan") const {
    return (folder_ / "1" / file).string();
  }
  /// Writes a plan without its first and last line. Without profiles it gets profile 0 with batch
  /// sizes 1 to 2 and profile 1 with 1 to 8, for the input x of four elements.
  void WritePlan(const std::string& lines, const std::string& file = "model.plan");
  void WriteFile(const std::string& content, const std::string& file = "model.plan");
  /// Loads the model; the text of the failure, or "". `more` are further fields.
  std::string Load(const std::string& inputs, const std::string& outputs, int max_batch_size = 8,
                   const std::string& more = "");
  /// Loads a model with the input x and the output y of type FP32 and dims [4].
  std::string LoadSimple(int max_batch_size = 8, const std::string& more = "");
  /// Returns an entry of `input` or `output`.
  static std::string Tensor(const std::string& name, const std::string& type,
                            const std::string& dims, const std::string& more = "");
  /// Asks the model for y of `rows` rows of four elements; the message of a failure, or "". Checks
  /// that y is twice x.
  std::string Ask(int rows = 1);

  std::filesystem::path folder_;

 private:
  std::optional<backend::testing::FakeServer> server_;
};

}  // namespace nereid::tensorrt::testing

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "caffe2/testing/net_text.h"
#include "testing/fake_server.h"

namespace nereid::caffe2::testing {

/// Loads nets into the plug-in, from files in a folder of the test's own.
class NetTest : public ::testing::Test {
 protected:
  NetTest();
  ~NetTest() override;

  /// Writes both files of version 1.
  void WriteFiles(const std::string& init, const std::string& predict);
  /// Loads what is written; `config` is the configuration without its name. The text of the
  /// failure, or "".
  std::string LoadFiles(const std::string& config);
  /// Writes and loads a case; clients send its inputs, and outputs are completed.
  std::string Load(const NetCase& net);
  /// Runs the loaded case once, with ones for data and 2 for dimensions that are open; the text of
  /// the failure, or "".
  std::string RunWithOnes(const NetCase& net);

  static std::string InputsText(const std::vector<NetInput>& inputs);
  const std::string& folder() const { return folder_; }

  backend::testing::FakeServer server_;

 private:
  std::string folder_;
};

}  // namespace nereid::caffe2::testing

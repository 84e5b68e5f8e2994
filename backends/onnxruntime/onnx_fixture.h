// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "testing/fake_server.h"

namespace nereid::onnxruntime {

/// Loads one of the models of tests/models/make_models.py into the plug-in.
class OnnxTest : public ::testing::Test {
 protected:
  OnnxTest();
  void TearDown() override;

  /// `config` is the configuration without its name; the text of the failure, or "".
  std::string Load(const std::string& model, const std::string& config, bool complete = false);
  /// Loads with everything left to completion.
  std::string LoadComplete(const std::string& model) { return Load(model, "", true); }

  /// A library with the operator Triple of the domain nereid.test.
  static std::string OperatorLibrary();

  /// The entry of `input` or `output`; `more` is further members, with a comma in front.
  static std::string Tensor(const std::string& name, const std::string& type,
                            const std::string& dims, const std::string& more = "");
  static std::string Io(int max_batch_size, const std::string& inputs, const std::string& outputs,
                        const std::string& more = "");

  backend::testing::FakeServer server_;
};

}  // namespace nereid::onnxruntime

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "caffe2/translate.h"

namespace nereid::caffe2::testing {

/// A net for a test and what becomes of it, as text:
///
///     == name of the case
///     input x FP32 [-1,8,8,3]
///     init GivenTensorFill -> w shape=[2] values=[0.5,1.5]
///     Conv x w b -> y order=NHWC kernel=3 pads=[1,1,1,1]
///     output y
///     --
///     %1 = Transpose(x) perm=[0,3,1,2]
///     y FP32 [-1,8,8,4] = %1
///
/// An operator is its type, its inputs, "->", its outputs and its arguments: whole numbers are `i`
/// or `ints`, numbers with a point `f` or `floats`, others `s` or `strings`, where `"7"` is a text.
/// Without `output` lines the outputs of the last operator are the net's.
struct NetCase {
  std::string name;
  /// The lines between "==" and "--".
  std::string text;
  /// The lines behind "--".
  std::string expected;

  NetPair nets;
  std::vector<NetInput> inputs;
};

/// The cases of a file. Like all here, it throws where something is wrong.
std::vector<NetCase> ReadCases(const std::string& path);
/// One case without a name: the lines between "==" and "--".
NetCase ParseCase(std::string_view text);
/// The inverse of ReadCases.
std::string WriteCases(const std::vector<NetCase>& cases);

/// The ONNX graph that becomes of the case, or "error: " and the message.
std::string TranslateToText(const NetCase& net);

/// All golden files, by their names without the folder and ".txt".
std::vector<std::string> GoldenNames();
std::string GoldenPath(const std::string& name);

}  // namespace nereid::caffe2::testing

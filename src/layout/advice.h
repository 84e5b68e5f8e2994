// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nereid::layout {

/// What was found in a model's directory and the one thing to do about it. All paths in texts are
/// relative to the model repository.
struct Advice {
  /// What was found: "found 'rf/1/rf.onnx'".
  std::string found;
  /// The ways to correct it, the best one first. Each is complete: a sequence of the steps below,
  /// joined with ", then ".
  std::vector<std::string> ways;

  /// Returns "<found>: <way>, or <way>".
  std::string Text() const;
};

/// Appends the text of an advice to an error message, before the line end that some messages have.
/// An empty advice adds nothing.
std::string WithAdvice(std::string message, const std::string& advice);

// The steps. The test of wrong layouts carries them out literally (tests/conformance/layouts.py),
// so their texts are an interface. Control characters in paths are escaped.

/// "rename 'a/x' to 'a/y'" if both are in one directory, else "move 'a/x' to 'b/x'".
std::string MoveStep(std::string_view from, std::string_view to);
/// "create the directory 'a'".
std::string CreateStep(std::string_view directory);
/// "set backend: \"python\" in 'm/config.pbtxt'".
std::string SetStep(std::string_view field, std::string_view value, std::string_view file);
/// "remove platform from 'm/config.pbtxt'".
std::string RemoveStep(std::string_view field, std::string_view file);
/// "unpack 'm/1/model.zip' in 'm/1'".
std::string UnpackStep(std::string_view archive, std::string_view directory);
/// "copy 'm/1/model.onnx' from its source".
std::string CopyStep(std::string_view path);
/// "make 'm/1/model.onnx' readable for the server".
std::string MakeReadableStep(std::string_view path);
/// "run 'git lfs pull' in the repository of 'm/1/model.onnx'".
std::string GitLfsStep(std::string_view path);
/// "run 'nereid init m/1/model.pt -o m/config.pbtxt'".
std::string InitStep(std::string_view model, std::string_view config);

/// "add the input and output of 'nereid init m/1/model.pt' to 'm/config.pbtxt'".
std::string AddTensorsStep(std::string_view model, std::string_view config);

/// Returns steps that belong together as one way.
std::string Then(std::string_view first, std::string_view second);

/// Returns a path in quotes, with control characters escaped.
std::string Quoted(std::string_view path);

}  // namespace nereid::layout

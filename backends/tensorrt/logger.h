// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <NvInfer.h>

#include <string>

namespace nereid::tensorrt {

/// Writes TensorRT's messages to the server's log, and keeps the errors of each thread.
class Logger : public nvinfer1::ILogger {
 public:
  /// Returns the logger of the process. TensorRT keeps the first logger that it gets, so there is
  /// only one, and it lives until the process ends.
  static Logger& Get();

  void log(Severity severity, const char* message) noexcept override;

  /// Forgets the calling thread's errors, before a call of TensorRT.
  static void Forget();
  /// Returns what TensorRT has reported on the calling thread since Forget(), as the end of a
  /// message: ": <first error>; <last error>"; or a text that says that there is no reason.
  static std::string Reason();

 private:
  Logger() = default;
};

}  // namespace nereid::tensorrt

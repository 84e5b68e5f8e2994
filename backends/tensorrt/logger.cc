// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/logger.h"

#include "nereid/backend/error.h"
#include "nereid/backend/log.h"

namespace nereid::tensorrt {
namespace {

/// The errors of a thread. The first one often names the cause, and the last one what it led to.
struct Errors {
  std::string first;
  std::string last;
};

Errors& ThreadErrors() {
  static thread_local Errors errors;
  return errors;
}

}  // namespace

Logger& Logger::Get() {
  static auto* const logger = new Logger;
  return *logger;
}

void Logger::log(Severity severity, const char* message) noexcept {
  const backend::Error ignored = backend::Catching([&]() -> backend::Error {
    const std::string text = message == nullptr ? "" : message;
    switch (severity) {
      case Severity::kINTERNAL_ERROR:
      case Severity::kERROR:
        (ThreadErrors().first.empty() ? ThreadErrors().first : ThreadErrors().last) = text;
        NEREID_BACKEND_LOG(ERROR, "TensorRT: " + text);
        break;
      case Severity::kWARNING:
        NEREID_BACKEND_LOG(WARN, "TensorRT: " + text);
        break;
      default:
        NEREID_BACKEND_LOG(VERBOSE, "TensorRT: " + text);
    }
    return {};
  });
}

void Logger::Forget() { ThreadErrors() = {}; }

std::string Logger::Reason() {
  const Errors& errors = ThreadErrors();
  if (errors.first.empty()) {
    return " (TensorRT gives no reason)";
  }
  return ": " + errors.first + (errors.last.empty() ? "" : "; " + errors.last);
}

}  // namespace nereid::tensorrt

// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/logger.h"

#include "nereid/backend/error.h"
#include "nereid/backend/log.h"

namespace nereid::tensorrt {
namespace {

std::string& LastError() {
  static thread_local std::string text;
  return text;
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
        LastError() = text;
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

void Logger::Forget() { LastError().clear(); }

std::string Logger::Reason() {
  return LastError().empty() ? " (TensorRT gives no reason)" : ": " + LastError();
}

}  // namespace nereid::tensorrt

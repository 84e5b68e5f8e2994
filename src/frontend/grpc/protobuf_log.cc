// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/protobuf_log.h"

#include <google/protobuf/stubs/logging.h>

#include <mutex>
#include <string>

#include "base/log.h"

namespace nereid::frontend::grpc {
namespace {

void Write(google::protobuf::LogLevel level, const char*, int, const std::string& message) {
  if (level == google::protobuf::LOGLEVEL_FATAL) {
    LOG_ERROR << "protobuf: " << message;
  } else {
    LOG_VERBOSE(1) << "protobuf: " << message;
  }
}

}  // namespace

void TakeOverProtobufLog() {
  static std::once_flag once;
  std::call_once(once, [] { google::protobuf::SetLogHandler(&Write); });
}

}  // namespace nereid::frontend::grpc

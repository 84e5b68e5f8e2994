// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/method_table.h"

#include <string>
#include <string_view>

#include "api/unsupported.h"
#include "base/log.h"
#include "frontend/grpc/health_watch_call.h"
#include "frontend/grpc/infer_call.h"
#include "frontend/grpc/reflection_call.h"
#include "frontend/grpc/small_call.h"
#include "frontend/grpc/stream_infer_call.h"

namespace nereid::frontend::grpc {
namespace {

constexpr std::string_view kService = "/inference.GRPCInferenceService/";

struct MissingMethod {
  std::string_view name;
  std::string_view extension;
};

// Methods of the service that the server does not have.
constexpr MissingMethod kMissing[] = {
    {"SystemSharedMemoryStatus", "system shared memory"},
    {"SystemSharedMemoryRegister", "system shared memory"},
    {"SystemSharedMemoryUnregister", "system shared memory"},
    {"CudaSharedMemoryStatus", "CUDA shared memory"},
    {"CudaSharedMemoryRegister", "CUDA shared memory"},
    {"CudaSharedMemoryUnregister", "CUDA shared memory"},
};

// Writes Triton's line for a call to the verbose log, with the name of Triton's handler.
void LogCall(std::string_view path, int32_t stream) {
  const auto name = [path]() -> std::string_view {
    const std::string_view method = path.substr(path.rfind('/') + 1);
    if (method == "ModelInfer") return "ModelInferHandler";
    if (method == "ModelStreamInfer") return "ModelStreamInferHandler";
    if (method == "LogSettings") return "Logging";
    if (method == "TraceSetting") return "Trace";
    return method;
  };
  LOG_VERBOSE(1) << "Process for " << name() << ", rpc_ok=1, " << stream << " step START";
}

CallStatus Unknown(std::string_view path) {
  if (path.starts_with(kService)) {
    const std::string_view name = path.substr(kService.size());
    for (const MissingMethod& missing : kMissing) {
      if (missing.name != name) continue;
      return CallStatus::From(api::ExtensionUnsupported(missing.extension));
    }
  }
  return {kGrpcUnimplemented, "unknown method '" + std::string(path) + "'"};
}

}  // namespace

std::shared_ptr<Call> MakeCall(const CallOrigin& origin, CallStatus* refusal) {
  const std::string_view path = origin.head.path;
  LogCall(path, origin.stream);
  if (path == "/inference.GRPCInferenceService/ModelInfer") {
    return std::make_shared<InferCall>(origin);
  }
  if (path == "/inference.GRPCInferenceService/ModelStreamInfer") {
    return std::make_shared<StreamInferCall>(origin);
  }
  if (const UnaryMethod* method = FindUnaryMethod(path)) {
    return std::make_shared<SmallCall>(origin, *method);
  }
  if (path == "/grpc.health.v1.Health/Watch") return std::make_shared<HealthWatchCall>(origin);
  if (path == "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo" ||
      path == "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo") {
    return std::make_shared<ReflectionCall>(origin);
  }
  *refusal = Unknown(path);
  return nullptr;
}

}  // namespace nereid::frontend::grpc

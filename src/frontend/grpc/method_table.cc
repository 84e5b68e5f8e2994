// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/method_table.h"

#include <string>
#include <string_view>

#include "base/log.h"
#include "frontend/grpc/health_watch_call.h"
#include "frontend/grpc/infer_call.h"
#include "frontend/grpc/reflection_call.h"
#include "frontend/grpc/small_call.h"
#include "frontend/grpc/stream_infer_call.h"

namespace nereid::frontend::grpc {
namespace {

using api::Operation;

/// A method with a kind of call of its own.
struct Method {
  std::string_view path;
  Operation operation;
  std::shared_ptr<Call> (*make)(const CallOrigin& origin);
};

template <typename Kind>
std::shared_ptr<Call> Make(const CallOrigin& origin) {
  return std::make_shared<Kind>(origin);
}

constexpr Method kMethods[] = {
    {"/inference.GRPCInferenceService/ModelInfer", Operation::kInfer, Make<InferCall>},
    {"/inference.GRPCInferenceService/ModelStreamInfer", Operation::kInfer, Make<StreamInferCall>},
    {"/grpc.health.v1.Health/Watch", Operation::kServerReady, Make<HealthWatchCall>},
    {"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", Operation::kReflection,
     Make<ReflectionCall>},
    {"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", Operation::kReflection,
     Make<ReflectionCall>},
};

template <typename Entry, size_t kSize>
const Entry* Find(const Entry (&entries)[kSize], std::string_view path) {
  for (const Entry& entry : entries) {
    if (entry.path == path) return &entry;
  }
  return nullptr;
}

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

// Asks the gate about the caller. Returns nothing, and sets `refusal`, if it refuses.
std::optional<api::RoleSet> Admit(const CallOrigin& origin, Operation operation,
                                  CallStatus* refusal) {
  const api::AccessGate* const gate = origin.context.options.gate.get();
  if (gate == nullptr) return api::kAllRoles;
  const api::Admission admission =
      gate->Admit(operation, api::MakeCaller(origin.head.fields, origin.peer));
  if (admission.ok()) return admission.roles;
  *refusal = CallStatus::From(admission.refusal);
  return std::nullopt;
}

}  // namespace

std::vector<MethodSpec> AllMethods() {
  std::vector<MethodSpec> all;
  for (const Method& method : kMethods) all.push_back({method.path, method.operation, {}});
  for (const UnaryMethod& method : AllUnaryMethods()) {
    all.push_back({method.path, method.operation, method.change});
  }
  return all;
}

std::shared_ptr<Call> MakeCall(const CallOrigin& origin, CallStatus* refusal) {
  const std::string_view path = origin.head.path;
  LogCall(path, origin.opening.id);
  if (const Method* const method = Find(kMethods, path)) {
    if (!Admit(origin, method->operation, refusal)) return nullptr;
    return method->make(origin);
  }
  if (const UnaryMethod* const method = FindUnaryMethod(path)) {
    const std::optional<api::RoleSet> roles = Admit(origin, method->operation, refusal);
    if (!roles) return nullptr;
    return std::make_shared<SmallCall>(origin, *method, *roles);
  }
  *refusal = {kGrpcUnimplemented, "unknown method '" + std::string(path) + "'"};
  return nullptr;
}

}  // namespace nereid::frontend::grpc

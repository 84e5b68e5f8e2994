// SPDX-License-Identifier: Apache-2.0
// A library of custom operators for ONNX Runtime, in the domain nereid.test:
//
//   Triple  multiplies floats by three
//   Hold    copies floats when its execution may pass the gate: the attribute `gate` is the file of
//           the gate (see gate.h). When execution N begins, the file that `trace` names gets a line
//           {"execution": N}. Executions are counted from 1 in each session.
#include <onnxruntime_c_api.h>

#include <atomic>
#include <memory>
#include <string>

#include "gate.h"

namespace {

using nereid::testing::AppendLine;
using nereid::testing::Gate;

const OrtApi* api = nullptr;

/// The kernel of a Hold.
struct Hold {
  const Gate gate;
  const std::string trace;
  std::atomic<uint64_t> executions{0};
};

OrtStatusPtr Attribute(const OrtKernelInfo* info, const char* name, std::string* value) {
  size_t size = 0;
  if (OrtStatus* status = api->KernelInfoGetAttribute_string(info, name, nullptr, &size)) {
    return status;
  }
  value->resize(size);
  OrtStatus* status = api->KernelInfoGetAttribute_string(info, name, value->data(), &size);
  value->resize(size > 0 ? size - 1 : 0);  // the size counts the zero at the end
  return status;
}

OrtStatusPtr MakeHold(const OrtCustomOp*, const OrtApi*, const OrtKernelInfo* info, void** kernel) {
  std::string gate;
  std::string trace;
  if (OrtStatus* status = Attribute(info, "gate", &gate)) return status;
  if (OrtStatus* status = Attribute(info, "trace", &trace)) return status;
  *kernel = std::make_unique<Hold>(Gate(gate), trace).release();
  return nullptr;
}

OrtStatusPtr CopyTimes(float factor, OrtKernelContext* context) {
  const OrtValue* input = nullptr;
  if (OrtStatus* status = api->KernelContext_GetInput(context, 0, &input)) return status;
  OrtTensorTypeAndShapeInfo* info = nullptr;
  if (OrtStatus* status = api->GetTensorTypeAndShape(input, &info)) return status;
  size_t count = 0;
  size_t rank = 0;
  int64_t dims[8] = {};
  OrtStatus* status = api->GetTensorShapeElementCount(info, &count);
  if (status == nullptr) status = api->GetDimensionsCount(info, &rank);
  if (status == nullptr && rank > 8) status = api->CreateStatus(ORT_FAIL, "rank above 8");
  if (status == nullptr) status = api->GetDimensions(info, dims, rank);
  api->ReleaseTensorTypeAndShapeInfo(info);
  if (status != nullptr) return status;
  OrtValue* output = nullptr;
  if ((status = api->KernelContext_GetOutput(context, 0, dims, rank, &output))) return status;
  void* from = nullptr;
  void* to = nullptr;
  if ((status = api->GetTensorMutableData(const_cast<OrtValue*>(input), &from))) return status;
  if ((status = api->GetTensorMutableData(output, &to))) return status;
  for (size_t i = 0; i < count; ++i) {
    static_cast<float*>(to)[i] = factor * static_cast<const float*>(from)[i];
  }
  return nullptr;
}

OrtStatusPtr HoldAndCopy(void* kernel, OrtKernelContext* context) {
  auto* hold = static_cast<Hold*>(kernel);
  const uint64_t number = hold->executions.fetch_add(1) + 1;
  if (!AppendLine(hold->trace, "{\"execution\": " + std::to_string(number) + "}")) {
    return api->CreateStatus(ORT_FAIL, "nereid.test.Hold cannot write its trace");
  }
  hold->gate.Pass(number);
  return CopyTimes(1, context);
}

/// An operator from one float tensor to another of the same shape.
OrtCustomOp OneToOne() {
  OrtCustomOp op = {};
  op.version = ORT_API_VERSION;
  op.GetExecutionProviderType = [](const OrtCustomOp*) -> const char* { return nullptr; };
  op.GetInputTypeCount = [](const OrtCustomOp*) -> size_t { return 1; };
  op.GetOutputTypeCount = op.GetInputTypeCount;
  op.GetInputType = [](const OrtCustomOp*, size_t) { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; };
  op.GetOutputType = op.GetInputType;
  op.GetInputCharacteristic = [](const OrtCustomOp*, size_t) { return INPUT_OUTPUT_REQUIRED; };
  op.GetOutputCharacteristic = op.GetInputCharacteristic;
  op.GetInputMemoryType = [](const OrtCustomOp*, size_t) { return OrtMemTypeDefault; };
  op.GetVariadicInputMinArity = [](const OrtCustomOp*) { return 1; };
  op.GetVariadicInputHomogeneity = op.GetVariadicInputMinArity;
  op.GetVariadicOutputMinArity = op.GetVariadicInputMinArity;
  op.GetVariadicOutputHomogeneity = op.GetVariadicInputMinArity;
  op.GetStartVersion = op.GetVariadicInputMinArity;
  op.GetEndVersion = [](const OrtCustomOp*) { return 1000; };
  return op;
}

OrtCustomOp MakeTriple() {
  OrtCustomOp op = OneToOne();
  op.GetName = [](const OrtCustomOp*) { return "Triple"; };
  op.CreateKernelV2 = [](const OrtCustomOp*, const OrtApi*, const OrtKernelInfo*,
                         void** kernel) -> OrtStatusPtr {
    *kernel = nullptr;
    return nullptr;
  };
  op.KernelComputeV2 = [](void*, OrtKernelContext* context) { return CopyTimes(3, context); };
  op.KernelDestroy = [](void*) {};
  return op;
}

OrtCustomOp MakeHolding() {
  OrtCustomOp op = OneToOne();
  op.GetName = [](const OrtCustomOp*) { return "Hold"; };
  op.CreateKernelV2 = MakeHold;
  op.KernelComputeV2 = HoldAndCopy;
  op.KernelDestroy = [](void* kernel) { delete static_cast<Hold*>(kernel); };
  return op;
}

/// Exists as long as the library, which ONNX Runtime closes with the last session that uses it.
struct Domain {
  OrtCustomOp triple = MakeTriple();
  OrtCustomOp hold = MakeHolding();
  OrtCustomOpDomain* handle = nullptr;
  OrtStatus* failure = nullptr;

  Domain() {
    failure = api->CreateCustomOpDomain("nereid.test", &handle);
    if (failure == nullptr) failure = api->CustomOpDomain_Add(handle, &triple);
    if (failure == nullptr) failure = api->CustomOpDomain_Add(handle, &hold);
  }
  ~Domain() {
    api->ReleaseStatus(failure);
    api->ReleaseCustomOpDomain(handle);
  }
};

}  // namespace

extern "C" __attribute__((visibility("default"))) OrtStatus* RegisterCustomOps(
    OrtSessionOptions* options, const OrtApiBase* base) {
  api = base->GetApi(ORT_API_VERSION);
  static const Domain domain;
  if (domain.failure != nullptr) return api->CreateStatus(ORT_FAIL, "nereid.test cannot be made");
  return api->AddCustomOpDomain(options, domain.handle);
}

// SPDX-License-Identifier: Apache-2.0
// A library of custom operators for ONNX Runtime: nereid.test.Triple multiplies floats by three.
#include <onnxruntime_c_api.h>

namespace {

const OrtApi* api = nullptr;

OrtStatusPtr Compute(void*, OrtKernelContext* context) {
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
    static_cast<float*>(to)[i] = 3 * static_cast<const float*>(from)[i];
  }
  return nullptr;
}

OrtCustomOp MakeTriple() {
  OrtCustomOp op = {};
  op.version = ORT_API_VERSION;
  op.GetName = [](const OrtCustomOp*) { return "Triple"; };
  op.GetExecutionProviderType = [](const OrtCustomOp*) -> const char* { return nullptr; };
  op.CreateKernelV2 = [](const OrtCustomOp*, const OrtApi*, const OrtKernelInfo*,
                         void** kernel) -> OrtStatusPtr {
    *kernel = nullptr;
    return nullptr;
  };
  op.KernelComputeV2 = Compute;
  op.KernelDestroy = [](void*) {};
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

/// Lives as long as the library, which ONNX Runtime closes with the last session that uses it.
struct Domain {
  OrtCustomOp triple = MakeTriple();
  OrtCustomOpDomain* handle = nullptr;
  OrtStatus* failure = nullptr;

  Domain() {
    failure = api->CreateCustomOpDomain("nereid.test", &handle);
    if (failure == nullptr) failure = api->CustomOpDomain_Add(handle, &triple);
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

// SPDX-License-Identifier: Apache-2.0
// direct_model_onnxruntime LIBRARY MODEL REQUEST THREADS SPIN: ONNX Runtime's Run on one session
// with THREADS intra-op threads, which spin while they wait if SPIN is 1 (ONNX Runtime's default).
#include <dlfcn.h>
#include <onnxruntime_c_api.h>

#include <map>

#include "direct_calls/measure.h"
#include "direct_calls/model_load.h"

using nereid::bench::Fail;
using nereid::bench::InputTensor;

namespace {

const OrtApi* Load(const char* library) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) Fail(dlerror());
  const auto get = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(handle, "OrtGetApiBase"));
  if (get == nullptr) Fail("that is not ONNX Runtime");
  return get()->GetApi(ORT_API_VERSION);
}

ONNXTensorElementDataType TypeOf(const std::string& datatype) {
  static const std::map<std::string, ONNXTensorElementDataType> types = {
      {"FP32", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT},
      {"INT64", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64},
      {"INT32", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32},
      {"UINT8", ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8}};
  const auto found = types.find(datatype);
  if (found == types.end()) Fail("inputs of type " + datatype + " are not supported");
  return found->second;
}

/// A session and the values of its call, which all threads share.
class Model {
 public:
  Model(const OrtApi* api, const char* path, int threads, const char* spin) : api_(api) {
    OrtEnv* env = nullptr;
    Check(api_->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "direct", &env));
    OrtSessionOptions* options = nullptr;
    Check(api_->CreateSessionOptions(&options));
    Check(api_->SetIntraOpNumThreads(options, threads));
    Check(api_->AddSessionConfigEntry(options, "session.intra_op.allow_spinning", spin));
    Check(api_->CreateSession(env, path, options, &session_));
    Check(api_->GetAllocatorWithDefaultOptions(&allocator_));
    Check(api_->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory_));
    size_t count = 0;
    Check(api_->SessionGetOutputCount(session_, &count));
    for (size_t i = 0; i < count; ++i) {
      char* name = nullptr;
      Check(api_->SessionGetOutputName(session_, i, allocator_, &name));
      outputs_.push_back(name);
    }
  }

  void SetInputs(std::vector<InputTensor>* inputs) {
    for (InputTensor& input : *inputs) {
      OrtValue* value = nullptr;
      Check(api_->CreateTensorWithDataAsOrtValue(memory_, input.bytes.data(), input.bytes.size(),
                                                 input.shape.data(), input.shape.size(),
                                                 TypeOf(input.datatype), &value));
      names_.push_back(input.name.c_str());
      values_.push_back(value);
    }
  }

  void Run() const {
    std::vector<OrtValue*> results(outputs_.size(), nullptr);
    Check(api_->Run(session_, nullptr, names_.data(), values_.data(), values_.size(),
                    outputs_.data(), outputs_.size(), results.data()));
    for (OrtValue* result : results) api_->ReleaseValue(result);
  }

 private:
  void Check(OrtStatus* status) const {
    if (status != nullptr) Fail(api_->GetErrorMessage(status));
  }

  const OrtApi* api_;
  OrtSession* session_ = nullptr;
  OrtAllocator* allocator_ = nullptr;
  OrtMemoryInfo* memory_ = nullptr;
  std::vector<const char*> names_, outputs_;
  std::vector<const OrtValue*> values_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) Fail("usage: direct_model_onnxruntime LIBRARY MODEL REQUEST THREADS SPIN");
  Model model(Load(argv[1]), argv[2], std::atoi(argv[4]), argv[5]);
  std::vector<InputTensor> inputs = nereid::bench::ReadInputs(argv[3]);
  model.SetInputs(&inputs);
  return nereid::bench::ServeMeasurements([] {}, [&] { model.Run(); });
}

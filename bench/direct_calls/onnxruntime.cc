// SPDX-License-Identifier: Apache-2.0
// direct_onnxruntime LIBRARY MODEL INPUT N OUTPUT: ONNX Runtime's Run on [1,N] floats, one thread.
#include <dlfcn.h>
#include <onnxruntime_c_api.h>

#include "direct_calls/measure.h"

using nereid::bench::Fail;

int main(int argc, char** argv) {
  if (argc != 6) Fail("usage: direct_onnxruntime LIBRARY MODEL INPUT N OUTPUT");
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) Fail(dlerror());
  const auto get = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(library, "OrtGetApiBase"));
  if (get == nullptr) Fail("that is not ONNX Runtime");
  const OrtApi* api = get()->GetApi(ORT_API_VERSION);
  const auto check = [&](OrtStatus* status) {
    if (status != nullptr) Fail(api->GetErrorMessage(status));
  };
  OrtEnv* env = nullptr;
  check(api->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "direct", &env));
  OrtSessionOptions* options = nullptr;
  check(api->CreateSessionOptions(&options));
  check(api->SetIntraOpNumThreads(options, 1));
  OrtSession* session = nullptr;
  check(api->CreateSession(env, argv[2], options, &session));
  const int64_t n = std::atoll(argv[4]);
  std::vector<float> values(static_cast<size_t>(n), 0.5f);
  const int64_t shape[2] = {1, n};
  OrtMemoryInfo* memory = nullptr;
  check(api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
  const char* inputs[] = {argv[3]};
  const char* outputs[] = {argv[5]};
  return nereid::bench::PrintCpuPerCall(20000, [&] {
    OrtValue* input = nullptr;
    OrtValue* output = nullptr;
    check(api->CreateTensorWithDataAsOrtValue(memory, values.data(), values.size() * sizeof(float),
                                              shape, 2, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
                                              &input));
    check(api->Run(session, nullptr, inputs, &input, 1, outputs, 1, &output));
    api->ReleaseValue(output);
    api->ReleaseValue(input);
  });
}

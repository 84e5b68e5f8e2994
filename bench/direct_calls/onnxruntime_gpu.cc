// SPDX-License-Identifier: Apache-2.0
// direct_onnxruntime_gpu LIBRARY MODEL INPUT N,N,... OUTPUT GPU [SECONDS]: latency of ONNX
// Runtime's Run with float tensors in host memory, by the CUDA execution provider on GPU, or on the
// CPU for a GPU of -1.
#include <dlfcn.h>
#include <onnxruntime_c_api.h>

#include <chrono>

#include "direct_calls/measure.h"

using nereid::bench::Fail;

namespace {

using Clock = std::chrono::steady_clock;

const OrtApi* api = nullptr;

void Check(OrtStatus* status) {
  if (status != nullptr) Fail(api->GetErrorMessage(status));
}

std::vector<int64_t> ParseShape(const char* text) {
  std::vector<int64_t> shape;
  char* end = nullptr;
  do {
    shape.push_back(std::strtoll(text, &end, 10));
    text = end + 1;
  } while (*end == ',');
  return shape;
}

void AddCuda(OrtSessionOptions* options, const char* gpu) {
  OrtCUDAProviderOptionsV2* cuda = nullptr;
  Check(api->CreateCUDAProviderOptions(&cuda));
  const char* key = "device_id";
  Check(api->UpdateCUDAProviderOptions(cuda, &key, &gpu, 1));
  Check(api->SessionOptionsAppendExecutionProvider_CUDA_V2(options, cuda));
  api->ReleaseCUDAProviderOptions(cuda);
}

/// Calls `run` for the given time after a warm-up, and prints the distribution of the times.
template <typename Run>
int PrintLatency(double seconds, Run&& run) {
  for (int i = 0; i < 20; ++i) run();
  std::vector<double> times;
  const auto begin = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  do {
    const double before = elapsed();
    run();
    times.push_back((elapsed() - before) * 1e6);
  } while (elapsed() < seconds);
  const double rate = static_cast<double>(times.size()) / elapsed();
  std::sort(times.begin(), times.end());
  std::printf("{\"calls_per_second\": %.1f, \"p50_us\": %.1f, \"p99_us\": %.1f}\n", rate,
              times[times.size() / 2], times[times.size() * 99 / 100]);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7)
    Fail("usage: direct_onnxruntime_gpu LIBRARY MODEL INPUT N,N,... OUTPUT GPU [SECONDS]");
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) Fail(dlerror());
  const auto get = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(library, "OrtGetApiBase"));
  if (get == nullptr) Fail("that is not ONNX Runtime");
  api = get()->GetApi(ORT_API_VERSION);
  OrtEnv* env = nullptr;
  Check(api->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "direct", &env));
  OrtSessionOptions* options = nullptr;
  Check(api->CreateSessionOptions(&options));
  if (std::atoi(argv[6]) >= 0) AddCuda(options, argv[6]);
  OrtSession* session = nullptr;
  Check(api->CreateSession(env, argv[2], options, &session));
  const std::vector<int64_t> shape = ParseShape(argv[4]);
  size_t count = 1;
  for (const int64_t dim : shape) count *= static_cast<size_t>(dim);
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 97) / 97.0f;
  OrtMemoryInfo* memory = nullptr;
  Check(api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
  const char* inputs[] = {argv[3]};
  const char* outputs[] = {argv[5]};
  return PrintLatency(argc > 7 ? std::atof(argv[7]) : 2.0, [&] {
    OrtValue* input = nullptr;
    OrtValue* output = nullptr;
    Check(api->CreateTensorWithDataAsOrtValue(memory, values.data(), count * sizeof(float),
                                              shape.data(), shape.size(),
                                              ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &input));
    Check(api->Run(session, nullptr, inputs, &input, 1, outputs, 1, &output));
    api->ReleaseValue(output);
    api->ReleaseValue(input);
  });
}

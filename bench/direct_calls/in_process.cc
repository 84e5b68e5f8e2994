// SPDX-License-Identifier: Apache-2.0
// direct_in_process REPOSITORY BACKENDS MODEL INPUT N OUTPUT: the same request through the C API,
// the server being in this process: [1,N] floats in, one output out, one request at a time.
#include <cstring>
#include <semaphore>

#include "direct_calls/measure.h"
#include "triton/core/tritonserver.h"

using nereid::bench::Fail;

namespace {

void Check(TRITONSERVER_Error* error) {
  if (error != nullptr) Fail(TRITONSERVER_ErrorMessage(error));
}

// One request is under way at a time.
std::binary_semaphore released{0};
std::binary_semaphore answered{0};
std::vector<char> output_buffer(1 << 16);

TRITONSERVER_Error* Allocate(TRITONSERVER_ResponseAllocator*, const char*, size_t size,
                             TRITONSERVER_MemoryType, int64_t, void*, void** buffer, void** userp,
                             TRITONSERVER_MemoryType* type, int64_t* type_id) {
  if (size > output_buffer.size()) {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INVALID_ARG, "the output is too large");
  }
  *buffer = output_buffer.data();
  *userp = nullptr;
  *type = TRITONSERVER_MEMORY_CPU;
  *type_id = 0;
  return nullptr;
}

TRITONSERVER_Error* Free(TRITONSERVER_ResponseAllocator*, void*, void*, size_t,
                         TRITONSERVER_MemoryType, int64_t) {
  return nullptr;
}

void Release(TRITONSERVER_InferenceRequest*, uint32_t, void*) { released.release(); }

void Answer(TRITONSERVER_InferenceResponse* response, uint32_t, void*) {
  Check(TRITONSERVER_InferenceResponseError(response));
  Check(TRITONSERVER_InferenceResponseDelete(response));
  answered.release();
}

TRITONSERVER_Server* Start(const char* repository, const char* backends, const char* model) {
  TRITONSERVER_ServerOptions* options = nullptr;
  Check(TRITONSERVER_ServerOptionsNew(&options));
  Check(TRITONSERVER_ServerOptionsSetModelRepositoryPath(options, repository));
  Check(TRITONSERVER_ServerOptionsSetBackendDirectory(options, backends));
  Check(
      TRITONSERVER_ServerOptionsSetModelControlMode(options, TRITONSERVER_MODEL_CONTROL_EXPLICIT));
  Check(TRITONSERVER_ServerOptionsSetStartupModel(options, model));
  Check(TRITONSERVER_ServerOptionsSetStrictModelConfig(options, true));
  TRITONSERVER_Server* server = nullptr;
  Check(TRITONSERVER_ServerNew(&server, options));
  Check(TRITONSERVER_ServerOptionsDelete(options));
  return server;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) Fail("usage: direct_in_process REPOSITORY BACKENDS MODEL INPUT N OUTPUT");
  TRITONSERVER_Server* server = Start(argv[1], argv[2], argv[3]);
  TRITONSERVER_ResponseAllocator* allocator = nullptr;
  Check(TRITONSERVER_ResponseAllocatorNew(&allocator, Allocate, Free, nullptr));
  TRITONSERVER_InferenceRequest* request = nullptr;
  Check(TRITONSERVER_InferenceRequestNew(&request, server, argv[3], -1));
  const int64_t shape[2] = {1, std::atoll(argv[5])};
  std::vector<float> values(static_cast<size_t>(shape[1]), 0.5f);
  Check(TRITONSERVER_InferenceRequestAddInput(request, argv[4], TRITONSERVER_TYPE_FP32, shape, 2));
  Check(TRITONSERVER_InferenceRequestAppendInputData(
      request, argv[4], values.data(), values.size() * sizeof(float), TRITONSERVER_MEMORY_CPU, 0));
  Check(TRITONSERVER_InferenceRequestAddRequestedOutput(request, argv[6]));
  Check(TRITONSERVER_InferenceRequestSetReleaseCallback(request, Release, nullptr));
  Check(TRITONSERVER_InferenceRequestSetResponseCallback(request, allocator, nullptr, Answer,
                                                         nullptr));
  const int status = nereid::bench::PrintCpuPerCall(20000, [&] {
    Check(TRITONSERVER_ServerInferAsync(server, request, nullptr));
    answered.acquire();
    released.acquire();
  });
  Check(TRITONSERVER_InferenceRequestDelete(request));
  Check(TRITONSERVER_ResponseAllocatorDelete(allocator));
  Check(TRITONSERVER_ServerDelete(server));
  return status;
}

// SPDX-License-Identifier: Apache-2.0
// direct_one_by_one REPOSITORY BACKENDS MODEL INPUT N OUTPUT CALLS: sends the same request again
// and again through the C API of a server in this process and waits for each answer, with [1,N]
// floats as input. Makes a new request each time, as the Python package does. Prints the
// nanoseconds of each call, one a line.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "direct_calls/measure.h"
#include "triton/core/tritonserver.h"

using nereid::bench::Fail;

namespace {

void Check(TRITONSERVER_Error* error) {
  if (error != nullptr) Fail(TRITONSERVER_ErrorMessage(error));
}

struct Wait {
  std::mutex mutex;
  std::condition_variable changed;
  int ends = 0;  // two: the answer, and the release
};

void End(void* userp) {
  auto* const wait = static_cast<Wait*>(userp);
  std::lock_guard lock(wait->mutex);
  ++wait->ends;
  wait->changed.notify_all();
}

TRITONSERVER_Error* Allocate(TRITONSERVER_ResponseAllocator*, const char*, size_t size,
                             TRITONSERVER_MemoryType, int64_t, void*, void** buffer,
                             void** buffer_userp, TRITONSERVER_MemoryType* type, int64_t* type_id) {
  *buffer = std::malloc(size);
  *buffer_userp = nullptr;
  *type = TRITONSERVER_MEMORY_CPU;
  *type_id = 0;
  return nullptr;
}

TRITONSERVER_Error* Free(TRITONSERVER_ResponseAllocator*, void* buffer, void*, size_t,
                         TRITONSERVER_MemoryType, int64_t) {
  std::free(buffer);
  return nullptr;
}

void Release(TRITONSERVER_InferenceRequest* request, uint32_t, void* userp) {
  Check(TRITONSERVER_InferenceRequestDelete(request));
  End(userp);
}

void Answer(TRITONSERVER_InferenceResponse* response, uint32_t, void* userp) {
  Check(TRITONSERVER_InferenceResponseError(response));
  Check(TRITONSERVER_InferenceResponseDelete(response));
  End(userp);
}

TRITONSERVER_Server* Start(const char* repository, const char* backends) {
  TRITONSERVER_ServerOptions* options = nullptr;
  Check(TRITONSERVER_ServerOptionsNew(&options));
  Check(TRITONSERVER_ServerOptionsSetModelRepositoryPath(options, repository));
  Check(TRITONSERVER_ServerOptionsSetBackendDirectory(options, backends));
  Check(TRITONSERVER_ServerOptionsSetLogInfo(options, false));
  TRITONSERVER_Server* server = nullptr;
  Check(TRITONSERVER_ServerNew(&server, options));
  Check(TRITONSERVER_ServerOptionsDelete(options));
  return server;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) Fail("usage: direct_one_by_one REPOSITORY BACKENDS MODEL INPUT N OUTPUT CALLS");
  TRITONSERVER_Server* server = Start(argv[1], argv[2]);
  TRITONSERVER_ResponseAllocator* allocator = nullptr;
  Check(TRITONSERVER_ResponseAllocatorNew(&allocator, Allocate, Free, nullptr));
  const int64_t shape[2] = {1, std::atoll(argv[5])};
  const std::vector<float> values(static_cast<size_t>(shape[1]), 0.5f);
  std::vector<long long> times;
  for (int i = 0; i < std::atoi(argv[7]); ++i) {
    const auto begin = std::chrono::steady_clock::now();
    Wait wait;
    TRITONSERVER_InferenceRequest* request = nullptr;
    Check(TRITONSERVER_InferenceRequestNew(&request, server, argv[3], -1));
    Check(
        TRITONSERVER_InferenceRequestAddInput(request, argv[4], TRITONSERVER_TYPE_FP32, shape, 2));
    Check(TRITONSERVER_InferenceRequestAppendInputData(request, argv[4], values.data(),
                                                       values.size() * sizeof(float),
                                                       TRITONSERVER_MEMORY_CPU, 0));
    Check(TRITONSERVER_InferenceRequestSetReleaseCallback(request, Release, &wait));
    Check(
        TRITONSERVER_InferenceRequestSetResponseCallback(request, allocator, &wait, Answer, &wait));
    Check(TRITONSERVER_ServerInferAsync(server, request, nullptr));
    {
      std::unique_lock lock(wait.mutex);
      wait.changed.wait(lock, [&] { return wait.ends == 2; });
    }
    times.push_back(std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
  }
  for (const long long time : times) std::printf("%lld\n", time);
  Check(TRITONSERVER_ResponseAllocatorDelete(allocator));
  Check(TRITONSERVER_ServerDelete(server));
}

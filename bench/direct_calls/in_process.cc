// SPDX-License-Identifier: Apache-2.0
// direct_in_process REPOSITORY BACKENDS MODEL INPUT N OUTPUT: measures the same request through the
// C API of a server in this process, with [1,N] floats as input, one output, and eight requests in
// flight.
#include <array>
#include <atomic>
#include <mutex>
#include <semaphore>
#include <vector>

#include "direct_calls/measure.h"
#include "triton/core/tritonserver.h"

using nereid::bench::Fail;

namespace {

void Check(TRITONSERVER_Error* error) {
  if (error != nullptr) Fail(TRITONSERVER_ErrorMessage(error));
}

// As many as the connections of the other measurements.
constexpr int kUnderWay = 8;

/// One of the requests in flight: sent again when it is answered and released.
struct Round {
  TRITONSERVER_InferenceRequest* request = nullptr;
  std::vector<char> output = std::vector<char>(1 << 16);
  std::atomic<int> ends{0};  // two: the answer, and the release
};

std::mutex mutex;
std::vector<Round*> ended;  // guarded by mutex
std::counting_semaphore<> ends{0};

void End(void* userp) {
  auto* const round = static_cast<Round*>(userp);
  if (round->ends.fetch_add(1) == 0) return;
  {
    std::lock_guard lock(mutex);
    ended.push_back(round);
  }
  ends.release();
}

Round* NextEnded() {
  ends.acquire();
  std::lock_guard lock(mutex);
  Round* const round = ended.back();
  ended.pop_back();
  return round;
}

TRITONSERVER_Error* Allocate(TRITONSERVER_ResponseAllocator*, const char*, size_t size,
                             TRITONSERVER_MemoryType, int64_t, void* userp, void** buffer,
                             void** buffer_userp, TRITONSERVER_MemoryType* type, int64_t* type_id) {
  std::vector<char>& output = static_cast<Round*>(userp)->output;
  if (size > output.size()) {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INVALID_ARG, "the output is too large");
  }
  *buffer = output.data();
  *buffer_userp = nullptr;
  *type = TRITONSERVER_MEMORY_CPU;
  *type_id = 0;
  return nullptr;
}

TRITONSERVER_Error* Free(TRITONSERVER_ResponseAllocator*, void*, void*, size_t,
                         TRITONSERVER_MemoryType, int64_t) {
  return nullptr;
}

void Release(TRITONSERVER_InferenceRequest*, uint32_t, void* userp) { End(userp); }

void Answer(TRITONSERVER_InferenceResponse* response, uint32_t, void* userp) {
  Check(TRITONSERVER_InferenceResponseError(response));
  Check(TRITONSERVER_InferenceResponseDelete(response));
  End(userp);
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
  const int64_t shape[2] = {1, std::atoll(argv[5])};
  const std::vector<float> values(static_cast<size_t>(shape[1]), 0.5f);
  std::array<Round, kUnderWay> rounds;
  const auto send = [&](Round& round) {
    round.ends = 0;
    Check(TRITONSERVER_ServerInferAsync(server, round.request, nullptr));
  };
  for (Round& round : rounds) {
    TRITONSERVER_InferenceRequest*& request = round.request;
    Check(TRITONSERVER_InferenceRequestNew(&request, server, argv[3], -1));
    Check(
        TRITONSERVER_InferenceRequestAddInput(request, argv[4], TRITONSERVER_TYPE_FP32, shape, 2));
    Check(TRITONSERVER_InferenceRequestAppendInputData(request, argv[4], values.data(),
                                                       values.size() * sizeof(float),
                                                       TRITONSERVER_MEMORY_CPU, 0));
    Check(TRITONSERVER_InferenceRequestAddRequestedOutput(request, argv[6]));
    Check(TRITONSERVER_InferenceRequestSetReleaseCallback(request, Release, &round));
    Check(TRITONSERVER_InferenceRequestSetResponseCallback(request, allocator, &round, Answer,
                                                           &round));
    send(round);
  }
  const int status = nereid::bench::PrintCpuPerCall(20000, [&] { send(*NextEnded()); });
  for (int i = 0; i < kUnderWay; ++i) {
    Check(TRITONSERVER_InferenceRequestDelete(NextEnded()->request));
  }
  Check(TRITONSERVER_ResponseAllocatorDelete(allocator));
  Check(TRITONSERVER_ServerDelete(server));
  return status;
}

// SPDX-License-Identifier: Apache-2.0
// Includes the four headers in the reverse order of headers_test.c, after forward declarations as
// backends in C++ make them, with and without the word struct.
struct TRITONSERVER_Error;
struct TRITONSERVER_Server;
struct TRITONBACKEND_Request;

// clang-format off
#include "triton/core/tritonserver.h"
#include "triton/core/tritonrepoagent.h"
#include "triton/core/tritoncache.h"
#include "triton/core/tritonbackend.h"
// clang-format on

#include <type_traits>

namespace {

struct Allocation {
  static struct TRITONSERVER_Error* Start(struct TRITONSERVER_ResponseAllocator*, void*) {
    return nullptr;
  }
  static TRITONSERVER_Error* Release(TRITONSERVER_ResponseAllocator*, void*, void*, size_t,
                                     TRITONSERVER_MemoryType, int64_t) {
    return nullptr;
  }
};

void OnRelease(struct TRITONSERVER_InferenceRequest*, const uint32_t, void* calls) {
  ++*static_cast<int*>(calls);
}
void OnResponse(TRITONSERVER_InferenceResponse*, const uint32_t, void* calls) {
  ++*static_cast<int*>(calls);
}

constexpr TRITONSERVER_ResponseAllocatorStartFn_t kStart = Allocation::Start;
constexpr TRITONSERVER_ResponseAllocatorReleaseFn_t kRelease = Allocation::Release;
constexpr TRITONSERVER_InferenceRequestReleaseFn_t kOnRelease = OnRelease;
constexpr TRITONSERVER_InferenceResponseCompleteFn_t kOnResponse = OnResponse;

static_assert(std::is_same_v<decltype(&TRITONSERVER_ServerInferAsync),
                             struct TRITONSERVER_Error* (*)(struct TRITONSERVER_Server*,
                                                            struct TRITONSERVER_InferenceRequest*,
                                                            struct TRITONSERVER_InferenceTrace*)>);
static_assert(std::is_same_v<decltype(&TRITONBACKEND_ModelInstanceExecute),
                             TRITONSERVER_Error* (*)(TRITONBACKEND_ModelInstance*,
                                                     TRITONBACKEND_Request**, const uint32_t)>);
static_assert(
    std::is_same_v<decltype(&TRITONSERVER_LogIsEnabled), bool (*)(TRITONSERVER_LogLevel)>);

}  // namespace

extern "C" int HeadersCompileAsCxx(void);

extern "C" int HeadersCompileAsCxx(void) {
  int calls = 0;
  kOnRelease(nullptr, TRITONSERVER_REQUEST_RELEASE_ALL, &calls);
  kOnResponse(nullptr, TRITONSERVER_RESPONSE_COMPLETE_FINAL, &calls);
  return calls == 2 && kStart(nullptr, nullptr) == nullptr &&
         kRelease(nullptr, nullptr, nullptr, 0, TRITONSERVER_MEMORY_CPU, 0) == nullptr;
}

// SPDX-License-Identifier: Apache-2.0
// A custom batching library: the model's parameter `at_most` is the maximum number of requests in a
// batch. A request with the parameter `confuse` makes the decision fail.
#include <cstdlib>
#include <cstring>
#include <string>

#include "checks.h"
#include "triton/core/tritonbackend.h"

namespace {

struct Limit {
  uint32_t most = 0;
};

struct Count {
  uint32_t left = 0;
};

}  // namespace

extern "C" {

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatcherInitialize(
    TRITONBACKEND_Batcher** batcher, TRITONBACKEND_Model* model) {
  TRITONSERVER_Message* config = nullptr;
  const char* base = nullptr;
  size_t size = 0;
  TRY(TRITONBACKEND_ModelConfig(model, 1, &config));
  TRY(TRITONSERVER_MessageSerializeToJson(config, &base, &size));
  const std::string text(base, size);
  TRY(TRITONSERVER_MessageDelete(config));
  const std::string key = "\"at_most\":{\"string_value\":\"";
  const size_t at = text.find(key);
  if (at == std::string::npos) {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INVALID_ARG,
                                 "the batching library needs the parameter 'at_most'");
  }
  auto* const limit = new Limit;
  limit->most = static_cast<uint32_t>(std::atoi(text.c_str() + at + key.size()));
  *batcher = reinterpret_cast<TRITONBACKEND_Batcher*>(limit);
  return nullptr;
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatcherFinalize(
    TRITONBACKEND_Batcher* batcher) {
  delete reinterpret_cast<Limit*>(batcher);
  return nullptr;
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatchInitialize(
    const TRITONBACKEND_Batcher* batcher, void** userp) {
  *userp = new Count{reinterpret_cast<const Limit*>(batcher)->most};
  return nullptr;
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatchIncludeRequest(
    TRITONBACKEND_Request* request, void* userp, bool* should_include) {
  uint32_t parameters = 0;
  TRY(TRITONBACKEND_RequestParameterCount(request, &parameters));
  for (uint32_t i = 0; i < parameters; ++i) {
    const char* key = nullptr;
    TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_STRING;
    const void* value = nullptr;
    TRY(TRITONBACKEND_RequestParameter(request, i, &key, &type, &value));
    if (std::strcmp(key, "confuse") == 0) {
      *should_include = false;
      return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, "confused");
    }
  }
  auto& count = *static_cast<Count*>(userp);
  *should_include = count.left > 0;
  if (count.left > 0) --count.left;
  return nullptr;
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatchFinalize(void* userp) {
  delete static_cast<Count*>(userp);
  return nullptr;
}

}  // extern "C"

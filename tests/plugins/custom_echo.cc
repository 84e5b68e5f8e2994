// SPDX-License-Identifier: Apache-2.0
// A custom library of version 2: OUTPUTx repeats INPUTx, for any type and shape. The context is
// whether the model batches: models without batching have the word "unbatched" in their
// configuration.
#include "custom_tensors.h"

namespace {

using nereid::test_plugins::ShapeOf;

enum { kInput = 1, kOutput, kGpu };

bool batches_yes = true;
bool batches_no = false;

}  // namespace

extern "C" {

uint32_t CustomVersion() { return 2; }

int CustomInitialize(const CustomInitializeData* data, void** context) {
  *context = nereid::test_plugins::ConfigHolds(*data, "unbatched") ? &batches_no : &batches_yes;
  return 0;
}

int CustomFinalize(void*) { return 0; }

const char* CustomErrorString(void*, int code) {
  switch (code) {
    case kInput:
      return "an input cannot be read";
    case kOutput:
      return "an output cannot be had";
    default:
      return "a tensor is in GPU memory";
  }
}

int CustomExecuteV2(void* context, uint32_t count, CustomPayload* payloads,
                    CustomGetNextInputV2Fn_t next, CustomGetOutputV2Fn_t output) {
  const bool batching = *static_cast<bool*>(context);
  for (CustomPayload* payload = payloads; payload != payloads + count; ++payload) {
    for (uint32_t i = 0; i < payload->output_cnt && payload->error_code == 0; ++i) {
      const std::string name = payload->required_output_names[i];
      const std::string source = "INPUT" + name.substr(std::strlen("OUTPUT"));
      std::string bytes;
      const void* piece = nullptr;
      uint64_t size = 0;
      CustomMemoryType type = CUSTOM_MEMORY_GPU;  // the preference; the server sets the actual type
      int64_t type_id = 0;
      do {
        if (!next(payload->input_context, source.c_str(), &piece, &size, &type, &type_id)) {
          payload->error_code = kInput;
        } else if (type == CUSTOM_MEMORY_GPU && piece != nullptr) {
          payload->error_code = kGpu;
        } else if (piece != nullptr) {
          bytes.append(static_cast<const char*>(piece), size);
        }
      } while (piece != nullptr && payload->error_code == 0);
      std::vector<int64_t> shape = ShapeOf(*payload, source, batching);
      void* buffer = nullptr;
      type = CUSTOM_MEMORY_CPU_PINNED;
      if (payload->error_code == 0 &&
          !output(payload->output_context, name.c_str(), shape.size(), shape.data(), bytes.size(),
                  &buffer, &type, &type_id)) {
        payload->error_code = kOutput;
      }
      if (buffer != nullptr && type == CUSTOM_MEMORY_GPU) {
        payload->error_code = kGpu;
      } else if (buffer != nullptr) {
        std::memcpy(buffer, bytes.data(), bytes.size());
      }
    }
  }
  return 0;
}
}

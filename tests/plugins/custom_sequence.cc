// SPDX-License-Identifier: Apache-2.0
// A custom library that adds up sequences: OUTPUT is the sum of the INT32 INPUT [1] since START.
// With an input STATE_IN, this input contains the sum so far, and STATE_OUT gets the new sum.
// Otherwise the library keeps one sum for each slot of the batch (strategy direct).
#include "custom_tensors.h"

namespace {

using nereid::test_plugins::ReadInput;
using nereid::test_plugins::ShapeOf;
using nereid::test_plugins::WriteOutput;

struct Context {
  std::vector<int32_t> sums;
};

/// Returns the number in an input, or 0 if the payload does not have it.
int32_t Number(const CustomPayload& payload, CustomGetNextInputFn_t next, const char* name) {
  int32_t number = 0;
  std::string bytes;
  if (!ShapeOf(payload, name, true).empty() && ReadInput(payload, next, name, &bytes) &&
      bytes.size() == sizeof(number)) {
    std::memcpy(&number, bytes.data(), sizeof(number));
  }
  return number;
}

}  // namespace

extern "C" {

int CustomInitialize(const CustomInitializeData*, void** context) {
  *context = new Context{std::vector<int32_t>(64)};
  return 0;
}

int CustomFinalize(void* context) {
  delete static_cast<Context*>(context);
  return 0;
}

const char* CustomErrorString(void*, int) { return "the sum cannot be given"; }

int CustomExecute(void* context, uint32_t count, CustomPayload* payloads,
                  CustomGetNextInputFn_t next, CustomGetOutputFn_t output) {
  for (uint32_t i = 0; i < count; ++i) {
    const CustomPayload& payload = payloads[i];
    const bool given = !ShapeOf(payload, "STATE_IN", true).empty();
    int32_t* sum = &static_cast<Context*>(context)->sums[i % 64];
    if (!given && Number(payload, next, "READY") == 0) {
      continue;  // the slot is empty
    }
    if (given) {
      *sum = Number(payload, next, "STATE_IN");
    }
    if (Number(payload, next, "START") != 0) {
      *sum = 0;
    }
    *sum += Number(payload, next, "INPUT");
    const std::string bytes(reinterpret_cast<const char*>(sum), sizeof(*sum));
    for (uint32_t k = 0; k < payload.output_cnt; ++k) {
      if (!WriteOutput(payload, output, payload.required_output_names[k], {1, 1}, bytes)) {
        payloads[i].error_code = 1;
      }
    }
  }
  return 0;
}
}

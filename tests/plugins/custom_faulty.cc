// SPDX-License-Identifier: Apache-2.0
// A custom library that violates the rules: INPUT0, one INT32, selects the fault. It is compiled in
// several ways, each of which lacks something (WITHOUT_...) or reports another version (VERSION).
#include <limits>
#include <stdexcept>

#include "custom_tensors.h"

namespace {

using nereid::test_plugins::ConfigHolds;
using nereid::test_plugins::ReadInput;
using nereid::test_plugins::WriteOutput;

enum Fault : int32_t {
  kNone,
  kAllFail,
  kThisFails,
  kAsksTwice,
  kTooSmall,
  kUnknownOutput,
  kNoName,
  kWrongShape,
  kUnknownInput,
  kCodeWithoutText,
  kThrows,
  kHugeShape,
  kNoOutput,
  kTextOfBytes,
  kNegativeShape,
  kNoShape,
  kUnwanted,
  kNoContext,
  kSpoilsPayload,
  kMalformedText,
};

bool Ask(const CustomPayload& payload, CustomGetOutputFn_t output, const char* name,
         std::vector<int64_t> shape, uint64_t size) {
  void* buffer = nullptr;
  return output(payload.output_context, name, shape.size(), shape.data(), size, &buffer);
}

[[maybe_unused]] int Misbehave(Fault fault, CustomPayload* payload, CustomGetNextInputFn_t next,
                               CustomGetOutputFn_t output) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  void* buffer = nullptr;
  const void* piece = nullptr;
  uint64_t size = 0;
  const std::string bytes(reinterpret_cast<const char*>(&fault), sizeof(fault));
  switch (fault) {
    case kAllFail:
      return 7;
    case kThisFails:
      payload->error_code = 5;
      return 0;
    case kAsksTwice:
      Ask(*payload, output, "OUTPUT0", {1, 1}, 4);
      return Ask(*payload, output, "OUTPUT0", {1, 1}, 4) ? 0 : 8;
    case kTooSmall:
      payload->error_code = Ask(*payload, output, "OUTPUT0", {1, 1}, 3) ? 0 : 8;
      return 0;
    case kUnknownOutput:
      Ask(*payload, output, "OUTPUT9", {1, 1}, 4);  // and continues
      return 0;
    case kNoName:
      Ask(*payload, output, nullptr, {1, 1}, 4);
      return 0;
    case kWrongShape:
      Ask(*payload, output, "OUTPUT0", {1, 2}, 8);
      return 0;
    case kUnknownInput:
      next(payload->input_context, "INPUT9", &piece, &size);
      return 0;
    case kCodeWithoutText:
      payload->error_code = -1;
      return 0;
    case kThrows:
      throw std::runtime_error("thrown by the custom library");
    case kHugeShape:
      Ask(*payload, output, "FREE", {1, kMost, kMost}, 4);
      return 0;
    case kNoOutput:
      return 0;
    case kTextOfBytes:
      payload->error_code = 13;
      return 0;
    case kNegativeShape:
      Ask(*payload, output, "FREE", {1, -1, 1}, 4);
      return 0;
    case kNoShape:
      output(payload->output_context, "OUTPUT0", 2, nullptr, 4, &buffer);
      return 0;
    case kUnwanted:
      // The output is not requested, so nothing is written.
      output(payload->output_context, "FREE", 3, std::vector<int64_t>{1, 1, 1}.data(), 4, &buffer);
      return buffer == nullptr && WriteOutput(*payload, output, "OUTPUT0", {1, 1}, bytes) ? 0 : 8;
    case kNoContext:
      return next(nullptr, "INPUT0", &piece, &size) ||
                     output(nullptr, "OUTPUT0", 0, nullptr, 0, &buffer)
                 ? 8
                 : 0;
    case kSpoilsPayload:
      payload->batch_size = 1000;
      payload->input_cnt = 1000;
      payload->output_cnt = 1000;
      payload->input_names = nullptr;
      return WriteOutput(*payload, output, "OUTPUT0", {1, 1}, bytes) ? 0 : 8;
    case kMalformedText:
      return WriteOutput(*payload, output, "TEXT", {1, 1}, "\xff\xff\xff\xff") ? 0 : 8;
    default:
      return WriteOutput(*payload, output, "OUTPUT0", {1, 1}, bytes) ? 0 : 8;
  }
}

}  // namespace

extern "C" {

#ifdef VERSION
uint32_t CustomVersion() { return VERSION; }
#endif

#ifndef WITHOUT_INITIALIZE
int CustomInitialize(const CustomInitializeData* data, void** context) {
  *context = nullptr;
  if (ConfigHolds(*data, "initialize_throws")) {
    throw std::runtime_error("no room");
  }
  if (ConfigHolds(*data, "initialize_fails_with_context")) {
    *context = new std::string("of the context");
    return 4;
  }
  return ConfigHolds(*data, "initialize_fails") ? 3 : 0;
}
#endif

int CustomFinalize(void* context) {
  delete static_cast<std::string*>(context);
  return 6;  // the server logs the error
}

#ifndef WITHOUT_ERROR_STRING
const char* CustomErrorString(void* context, int code) {
  switch (code) {
    case 4:
      return static_cast<std::string*>(context)->c_str();
    case 5:
      return "only this one";
    case 7:
      return "all of them";
    case 13:
      return "\xff\xfe";
    default:
      return code < 0 ? nullptr : "out of ink";
  }
}
#endif

#ifndef WITHOUT_EXECUTE
int CustomExecute(void*, uint32_t count, CustomPayload* payloads, CustomGetNextInputFn_t next,
                  CustomGetOutputFn_t output) {
  for (uint32_t i = 0; i < count; ++i) {
    std::string bytes;
    Fault fault = kNone;
    if (!ReadInput(payloads[i], next, "INPUT0", &bytes) || bytes.size() != sizeof(fault)) {
      return 9;
    }
    std::memcpy(&fault, bytes.data(), sizeof(fault));
    if (const int code = Misbehave(fault, &payloads[i], next, output); code != 0) {
      return code;
    }
  }
  return 0;
}
#endif
}

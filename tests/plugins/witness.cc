// SPDX-License-Identifier: Apache-2.0
// A backend that records its inputs, for tests of sequences. It also runs in Triton.
//
// It copies INPUT to OUTPUT. The model's parameters:
//
//   trace       a file; each execution appends a line of JSON when it begins:
//               {"execution": n, "instance": name, "rows": [row, ...]}
//               row: {"id", "sequence" (a number or a text), "flags", "cancelled",
//                     "inputs": {name: [values]}, "shapes": {name: [dims]}}
//               Requests that the server created have rows as well.
//   gate        a file that holds executions (see gate.h)
//   load_gate   a file that holds the model's load in the same way
//   iterations  a request is rescheduled until it was executed that often; if the scheduler refuses
//               it, the scheduler's error is its answer
//
// The request's parameter `fail` makes its answer an error with that text. Executions are
// counted from 1, over all instances of the model.
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gate.h"
#include "nereid/backend/batch.h"
#include "nereid/backend/bytes_tensor.h"
#include "nereid/backend/input.h"
#include "nereid/backend/model_config.h"
#include "nereid/backend/output.h"
#include "nereid/backend/plugin.h"

namespace nereid::witness {
namespace {

using backend::Batch;
using backend::BatchMember;
using backend::Error;
using backend::Input;
using backend::NoBackendState;
using Json = rapidjson::Writer<rapidjson::StringBuffer>;

/// Further values of a tensor are not recorded.
constexpr int64_t kMaxValues = 64;

std::string ParameterOr(const backend::Parameters& parameters, std::string_view key) {
  const std::string* text = parameters.Find(key);
  return text == nullptr ? "" : *text;
}

struct WitnessModel {
  explicit WitnessModel(NoBackendState*) {}

  Error Load(TRITONBACKEND_Model* model) {
    NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config));
    trace = ParameterOr(config.parameters, "trace");
    gate = ParameterOr(config.parameters, "gate");
    testing::Gate(ParameterOr(config.parameters, "load_gate")).Pass(1);
    return config.parameters.ReadInt("iterations", 1, 1000, &iterations);
  }

  backend::ModelConfig config;
  std::string trace;
  std::string gate;
  int64_t iterations = 1;
  std::atomic<uint64_t> executions{0};
};

template <typename T>
void Numbers(const std::vector<char>& data, int64_t count, Json* json) {
  for (int64_t i = 0; i < std::min(count, kMaxValues); ++i) {
    T value = {};
    std::memcpy(&value, data.data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
    if constexpr (std::is_floating_point_v<T>) {
      json->Double(value);
    } else if constexpr (std::is_unsigned_v<T>) {
      json->Uint64(value);
    } else {
      json->Int64(value);
    }
  }
}

Error Values(const Input& input, Json* json) {
  NEREID_BACKEND_TRY(backend::CheckInputSize(input));
  std::vector<char> data(input.byte_size);
  NEREID_BACKEND_TRY(backend::CopyInput(input, data.data()));
  const int64_t count = backend::ElementCount(input.shape);
  switch (input.data_type) {
    case TRITONSERVER_TYPE_BOOL:
    case TRITONSERVER_TYPE_UINT8:
      Numbers<uint8_t>(data, count, json);
      return {};
    case TRITONSERVER_TYPE_INT32:
      Numbers<int32_t>(data, count, json);
      return {};
    case TRITONSERVER_TYPE_INT64:
      Numbers<int64_t>(data, count, json);
      return {};
    case TRITONSERVER_TYPE_UINT32:
      Numbers<uint32_t>(data, count, json);
      return {};
    case TRITONSERVER_TYPE_UINT64:
      Numbers<uint64_t>(data, count, json);
      return {};
    case TRITONSERVER_TYPE_FP32:
      Numbers<float>(data, count, json);
      return {};
    case TRITONSERVER_TYPE_BYTES:
      return backend::ForEachBytesElement(
          data.data(), data.size(), count, input.name, [&](int64_t, std::string_view text) {
            json->String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
          });
    default:
      json->String("?");
      return {};
  }
}

/// Records the inputs. An input that cannot be read is recorded as such, so that the tests see it.
void WriteInputs(TRITONBACKEND_Request* request, Json* json) {
  uint32_t count = 0;
  const Error counted(TRITONBACKEND_RequestInputCount(request, &count));
  std::vector<Input> inputs(count);
  for (uint32_t i = 0; i < count; ++i) {
    const Error found = backend::InputAt(request, i, &inputs[i]);
  }
  json->Key("inputs");
  json->StartObject();
  for (const Input& input : inputs) {
    if (input.handle == nullptr) {
      continue;
    }
    json->Key(input.name);
    json->StartArray();
    if (const Error error = Values(input, json); !error.ok()) {
      json->String(std::string(error.message()).c_str());
    }
    json->EndArray();
  }
  json->EndObject();
  json->Key("shapes");
  json->StartObject();
  for (const Input& input : inputs) {
    if (input.handle == nullptr) {
      continue;
    }
    json->Key(input.name);
    json->StartArray();
    for (const int64_t dim : input.shape) {
      json->Int64(dim);
    }
    json->EndArray();
  }
  json->EndObject();
}

void WriteRow(TRITONBACKEND_Request* request, Json* json) {
  json->StartObject();
  const char* text = "";
  uint64_t number = 0;
  uint32_t flags = 0;
  bool cancelled = false;
  json->Key("id");
  const Error named(TRITONBACKEND_RequestId(request, &text));
  json->String(named.ok() && text != nullptr ? text : "");
  json->Key("sequence");
  if (const Error is_number(TRITONBACKEND_RequestCorrelationId(request, &number)); is_number.ok()) {
    json->Uint64(number);
  } else {
    const Error is_text(TRITONBACKEND_RequestCorrelationIdString(request, &text));
    json->String(is_text.ok() && text != nullptr ? text : "?");
  }
  json->Key("flags");
  const Error flagged(TRITONBACKEND_RequestFlags(request, &flags));
  json->Uint(flags);
  json->Key("cancelled");
  const Error asked(TRITONBACKEND_RequestIsCancelled(request, &cancelled));
  json->Bool(cancelled);
  WriteInputs(request, json);
  json->EndObject();
}

class WitnessInstance {
 public:
  explicit WitnessInstance(WitnessModel* model) : model_(*model), gate_(model->gate) {}

  Error Load(TRITONBACKEND_ModelInstance* instance) {
    const char* name = nullptr;
    NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceName(instance, &name));
    name_ = name;
    return {};
  }

  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count) {
    const uint64_t number = model_.executions.fetch_add(1) + 1;
    const bool written = testing::AppendLine(model_.trace, Line(number, requests, count));
    gate_.Pass(number);
    std::vector<TRITONBACKEND_Request*> finished;
    refused_.clear();
    for (uint32_t i = 0; i < count; ++i) {
      if (!GiveBack(requests[i])) {
        finished.push_back(requests[i]);
      }
    }
    Batch batch(instance, finished.data(), static_cast<uint32_t>(finished.size()), &members_);
    batch.ComputeStarts();
    for (size_t i = 0; i < batch.size(); ++i) {
      batch.Fail(i, written ? Answer(&batch[i])
                            : Error::Internal("witness: cannot write to " + model_.trace));
    }
  }

 private:
  std::string Line(uint64_t number, TRITONBACKEND_Request** requests, uint32_t count) const {
    rapidjson::StringBuffer text;
    Json json(text);
    json.StartObject();
    json.Key("execution");
    json.Uint64(number);
    json.Key("instance");
    json.String(name_.c_str());
    json.Key("rows");
    json.StartArray();
    for (uint32_t i = 0; i < count; ++i) {
      WriteRow(requests[i], &json);
    }
    json.EndArray();
    json.EndObject();
    return {text.GetString(), text.GetSize()};
  }

  /// Reschedules a request with remaining iterations. Returns whether the scheduler has accepted
  /// it.
  bool GiveBack(TRITONBACKEND_Request* request) {
    if (model_.iterations <= 1) {
      return false;
    }
    uint64_t sequence = 0;
    const Error known(TRITONBACKEND_RequestCorrelationId(request, &sequence));
    bool cancelled = false;
    const Error asked(TRITONBACKEND_RequestIsCancelled(request, &cancelled));
    if (cancelled || ++done_[sequence] >= model_.iterations) {
      done_.erase(sequence);
      return false;
    }
    const Error released(
        TRITONBACKEND_RequestRelease(request, TRITONSERVER_REQUEST_RELEASE_RESCHEDULE));
    if (released.ok()) {
      return true;
    }
    done_.erase(sequence);
    refused_[request] = released.message();
    return false;
  }

  Error Answer(BatchMember* member) const {
    if (const auto refused = refused_.find(member->request); refused != refused_.end()) {
      return Error::InvalidArgument(refused->second);
    }
    uint32_t count = 0;
    NEREID_BACKEND_TRY(TRITONBACKEND_RequestParameterCount(member->request, &count));
    for (uint32_t i = 0; i < count; ++i) {
      const char* key = nullptr;
      TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_STRING;
      const void* value = nullptr;
      NEREID_BACKEND_TRY(TRITONBACKEND_RequestParameter(member->request, i, &key, &type, &value));
      if (type == TRITONSERVER_PARAMETER_STRING && std::strcmp(key, "fail") == 0) {
        return Error::Internal(static_cast<const char*>(value));
      }
    }
    return backend::ForEachRequestedOutput(member->request, [&](std::string_view name) -> Error {
      Input input;
      NEREID_BACKEND_TRY(backend::FindInput(member->request, "INPUT", &input));
      char* buffer = nullptr;
      NEREID_BACKEND_TRY(backend::AllocateOutput(member->response, std::string(name).c_str(),
                                                 input.data_type, input.shape, input.byte_size,
                                                 &buffer));
      return backend::CopyInput(input, buffer);
    });
  }

  WitnessModel& model_;
  const testing::Gate gate_;
  std::string name_;
  std::vector<BatchMember> members_;
  /// The number of executions of each sequence with remaining iterations.
  std::map<uint64_t, int64_t> done_;
  /// The scheduler's errors for requests of the batch that it did not accept.
  std::map<TRITONBACKEND_Request*, std::string> refused_;
};

}  // namespace
}  // namespace nereid::witness

NEREID_BACKEND_PLUGIN(nereid::backend::NoBackendState, nereid::witness::WitnessModel,
                      nereid::witness::WitnessInstance);

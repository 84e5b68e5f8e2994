// SPDX-License-Identifier: Apache-2.0
// A backend that adds up the requests of each sequence and reports how the server scheduled them.
// It runs in Nereid and in Triton.
//
// Input INPUT: INT32 of one element. Each output is there if the configuration lists it:
//
//   OUTPUT        INT32 [1]   the sum of the sequence so far
//   OUTPUT_STATE  INT32       the state after this request, if there is one
//   START_ROW     FP32 [-1]   the control START of every request of the batch, in their order; so
//   END_ROW, READY_ROW        too END and READY; 0 for a request without that input
//   CORRID_ROW    STRING [-1] their control CORRID, numbers in decimal
//   INPUT_ROW     INT32 [-1]  their INPUT
//   SLOT, BATCH   INT32 [1]   this request's place in the batch, and how many there are
//   EXECUTION     INT32 [1]   the number of executions of this instance, including this one
//   ENDS          INT32 [1]   the number of its requests with END
//   CANCELLED_ENDS INT32 [1]  the same, of sequences that the server ended
//   FLAGS         INT32 [1]   the request's flags
//   INSTANCE      STRING [1]  the name of the instance
//   INPUTS        STRING [1]  the inputs as text: "INPUT INT32 [1,1] 4, START FP32 [1,1] 4"
//
// The model's parameter `keep` is the place of the sum:
//
//   corrid         (default) in the instance, by correlation id, from START to END. A request of a
//                  sequence that this instance does not know fails.
//   slot           in the instance, by the place in the batch; START clears it
//   state          in INPUT_STATE and OUTPUT_STATE (INT32 [1]); at START the old value is ignored
//   initial_state  the same, but the old value is always added to
//   list           the state is the list of all inputs so far (INT32 [-1])
//
// Two requests of a sequence in one batch, and two threads in one instance, are errors.
// Parameters: `execute_delay_ms` (0) of the model or (an integer) the request; `iterations` (1) of
// the model: a request is rescheduled until it was executed that often; `fail` (a text) of the
// request: the error of the request, after its state was written.
#include "nereid/backend/sequence.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <thread>

#include "nereid/backend/batch.h"
#include "nereid/backend/bytes_tensor.h"
#include "nereid/backend/input.h"
#include "nereid/backend/model_config.h"
#include "nereid/backend/output.h"
#include "nereid/backend/plugin.h"

namespace nereid::sequence {
namespace {

using backend::Batch;
using backend::Error;
using backend::NoBackendState;

enum class Keep { kCorrelationId, kSlot, kState, kInitialState, kList };

struct SequenceModel {
  explicit SequenceModel(NoBackendState*) {}

  Error Load(TRITONBACKEND_Model* model) {
    NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config));
    NEREID_BACKEND_TRY(config.parameters.ReadInt("execute_delay_ms", 0, 60000, &delay_ms));
    NEREID_BACKEND_TRY(config.parameters.ReadInt("iterations", 1, 1000, &iterations));
    const std::string* name = config.parameters.Find("keep");
    if (name == nullptr) {
      return {};
    }
    const std::map<std::string, Keep> kNames = {{"corrid", Keep::kCorrelationId},
                                                {"slot", Keep::kSlot},
                                                {"state", Keep::kState},
                                                {"initial_state", Keep::kInitialState},
                                                {"list", Keep::kList}};
    const auto found = kNames.find(*name);
    if (found == kNames.end()) {
      return Error::InvalidArgument("parameter 'keep' must be corrid, slot, state, initial_state " +
                                    std::string("or list, not '") + *name + "'");
    }
    keep = found->second;
    return {};
  }

  bool keeps_state() const { return keep >= Keep::kState; }

  backend::ModelConfig config;
  Keep keep = Keep::kCorrelationId;
  int64_t delay_ms = 0;
  int64_t iterations = 1;
};

/// The content of a request.
struct Row {
  backend::SequencePosition position;
  uint32_t flags = 0;
  bool cancelled = false;
  bool padding = false;  // the server fills a place with it
  int32_t input = 0;
  float start = 0;
  float end = 0;
  float ready = 0;
  std::string corrid;
  std::string inputs;
  std::vector<int32_t> state;
  std::optional<std::string> failure;
  int64_t delay_ms = 0;
  int32_t sum = 0;
};

struct Sequence {
  int32_t sum = 0;
  int64_t executions = 0;
};

int32_t Add(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

template <typename T>
T As(const std::string& bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof(T)));
  return value;
}

float ToFloat(TRITONSERVER_DataType type, const std::string& bytes) {
  switch (type) {
    case TRITONSERVER_TYPE_INT32:
      return static_cast<float>(As<int32_t>(bytes));
    case TRITONSERVER_TYPE_BOOL:
      return As<uint8_t>(bytes) == 0 ? 0.F : 1.F;
    default:
      return As<float>(bytes);
  }
}

std::string ToText(TRITONSERVER_DataType type, const std::string& bytes) {
  switch (type) {
    case TRITONSERVER_TYPE_INT32:
      return std::to_string(As<int32_t>(bytes));
    case TRITONSERVER_TYPE_UINT32:
      return std::to_string(As<uint32_t>(bytes));
    case TRITONSERVER_TYPE_INT64:
      return std::to_string(As<int64_t>(bytes));
    case TRITONSERVER_TYPE_UINT64:
      return std::to_string(As<uint64_t>(bytes));
    default:  // BYTES of one element; what may stand behind it (Triton 2.51 pads) is left away
      return bytes.substr(std::min<size_t>(4, bytes.size()), As<uint32_t>(bytes));
  }
}

Error TakeInput(const backend::Input& input, Row* row) {
  std::string bytes(input.byte_size, '\0');
  NEREID_BACKEND_TRY(backend::CopyInput(input, bytes.data()));
  const std::string name = input.name;
  row->inputs += (row->inputs.empty() ? "" : ", ") + name + " " +
                 TRITONSERVER_DataTypeString(input.data_type) + " " +
                 backend::ShapeText(input.shape) + " " + std::to_string(input.byte_size);
  if (name == "INPUT") {
    row->input = As<int32_t>(bytes);
  } else if (name == "START") {
    row->start = ToFloat(input.data_type, bytes);
  } else if (name == "END") {
    row->end = ToFloat(input.data_type, bytes);
  } else if (name == "READY") {
    row->ready = ToFloat(input.data_type, bytes);
  } else if (name == "CORRID") {
    row->corrid = ToText(input.data_type, bytes);
  } else if (name == "INPUT_STATE") {
    row->state.resize(bytes.size() / sizeof(int32_t));
    if (!row->state.empty()) {
      std::memcpy(row->state.data(), bytes.data(), row->state.size() * sizeof(int32_t));
    }
  }
  return {};
}

Error TakeParameters(TRITONBACKEND_Request* request, Row* row) {
  uint32_t count = 0;
  NEREID_BACKEND_TRY(TRITONBACKEND_RequestParameterCount(request, &count));
  for (uint32_t i = 0; i < count; ++i) {
    const char* key = nullptr;
    TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_STRING;
    const void* value = nullptr;
    NEREID_BACKEND_TRY(TRITONBACKEND_RequestParameter(request, i, &key, &type, &value));
    if (std::strcmp(key, "fail") == 0 && type == TRITONSERVER_PARAMETER_STRING) {
      row->failure = static_cast<const char*>(value);
    }
    if (std::strcmp(key, "execute_delay_ms") == 0 && type == TRITONSERVER_PARAMETER_INT) {
      row->delay_ms = std::min<int64_t>(*static_cast<const int64_t*>(value), 60000);
    }
  }
  return {};
}

Error ReadRow(TRITONBACKEND_Request* request, Row* row) {
  NEREID_BACKEND_TRY(backend::ReadSequencePosition(request, &row->position));
  row->padding = row->position.id.empty() || row->position.id == "0";
  NEREID_BACKEND_TRY(TRITONBACKEND_RequestFlags(request, &row->flags));
  NEREID_BACKEND_TRY(TRITONBACKEND_RequestIsCancelled(request, &row->cancelled));
  uint32_t count = 0;
  NEREID_BACKEND_TRY(TRITONBACKEND_RequestInputCount(request, &count));
  for (uint32_t i = 0; i < count; ++i) {
    backend::Input input;
    NEREID_BACKEND_TRY(backend::InputAt(request, i, &input));
    NEREID_BACKEND_TRY(TakeInput(input, row));
  }
  return TakeParameters(request, row);
}

class SequenceInstance {
 public:
  explicit SequenceInstance(const SequenceModel* model) : model_(*model) {}

  Error Load(TRITONBACKEND_ModelInstance* instance) {
    const char* name = nullptr;
    NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceName(instance, &name));
    name_ = name;
    return {};
  }

  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count) {
    const bool entered_twice = inside_.exchange(true);
    Batch batch(instance, requests, count, &members_);
    rows_.assign(count, Row());
    ++executions_;
    Each(&batch, [&](size_t i) { return ReadRow(batch[i].request, &rows_[i]); });
    batch.ComputeStarts();
    if (entered_twice) {
      batch.FailAll(Error::Internal("instance " + name_ + " is executing two batches at once"));
    }
    Each(&batch, [&](size_t i) { return CheckAlone(i); });
    Sleep();
    Each(&batch, [&](size_t i) { return Compute(&batch, i); });
    batch.ComputeEnds();
    Each(&batch, [&](size_t i) { return Answer(&batch, i); });
    inside_.store(false);
  }

 private:
  void Each(Batch* batch, const std::function<Error(size_t)>& step) {
    for (size_t i = 0; i < batch->size(); ++i) {
      if (!batch->failed(i)) {
        batch->Fail(i, backend::Catching([&] { return step(i); }));
      }
    }
  }

  void Sleep() const {
    int64_t delay_ms = model_.delay_ms;
    for (const Row& row : rows_) {
      delay_ms = std::max(delay_ms, row.delay_ms);
    }
    if (delay_ms > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    }
  }

  Error CheckAlone(size_t place) const {
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (i != place && !rows_[i].padding && rows_[i].position.id == rows_[place].position.id) {
        return Error::Internal("a batch has two requests of sequence " + rows_[i].position.id);
      }
    }
    return {};
  }

  Error Compute(Batch* batch, size_t place) {
    Row& row = rows_[place];
    if (row.padding && !model_.keeps_state()) {
      return {};
    }
    if (row.position.end) {
      ++ends_;
      cancelled_ends_ += row.cancelled ? 1 : 0;
    }
    if (model_.keeps_state()) {
      NEREID_BACKEND_TRY(WriteState((*batch)[place].request, &row));
    } else if (model_.keep == Keep::kSlot) {
      Sequence& slot = slots_[place];
      slot.sum = row.position.start ? row.input : Add(slot.sum, row.input);
      row.sum = slot.sum;
    } else {
      NEREID_BACKEND_TRY(AddToSequence(batch, place));
    }
    if (row.failure) {
      return Error::Internal(*row.failure);
    }
    return {};
  }

  Error AddToSequence(Batch* batch, size_t place) {
    Row& row = rows_[place];
    const std::string& id = row.position.id;
    if (row.position.start) {
      sequences_[id] = Sequence();
    }
    const auto found = sequences_.find(id);
    if (found == sequences_.end()) {
      return Error::Internal("instance " + name_ + " does not know sequence " + id);
    }
    if (!row.cancelled) {
      found->second.sum = Add(found->second.sum, row.input);
    }
    row.sum = found->second.sum;
    if (row.position.end) {
      sequences_.erase(found);
    } else if (model_.iterations > 1) {
      if (++found->second.executions < model_.iterations) {
        batch->Reschedule(place);
      } else {
        found->second.executions = 0;
      }
    }
    return {};
  }

  Error WriteState(TRITONBACKEND_Request* request, Row* row) const {
    if (model_.keep == Keep::kList) {
      if (row->position.start) {
        row->state.clear();
      }
      row->state.push_back(row->input);
    } else {
      const bool ignore = row->position.start && model_.keep == Keep::kState;
      const int32_t old = ignore || row->state.empty() ? 0 : row->state[0];
      row->state.assign(1, Add(old, row->input));
    }
    for (const int32_t value : row->state) {
      row->sum = Add(row->sum, value);
    }
    const std::vector<int64_t> shape = Shape(row->state.size());
    return backend::WriteState(request, "OUTPUT_STATE", TRITONSERVER_TYPE_INT32, shape,
                               reinterpret_cast<const char*>(row->state.data()),
                               row->state.size() * sizeof(int32_t));
  }

  std::vector<int64_t> Shape(size_t size) const {
    const auto dim = static_cast<int64_t>(size);
    return model_.config.batching() ? std::vector<int64_t>{1, dim} : std::vector<int64_t>{dim};
  }

  template <typename T>
  Error Write(TRITONBACKEND_Response* response, const char* name, TRITONSERVER_DataType type,
              const std::vector<T>& values) const {
    return backend::WriteOutput(response, name, type, Shape(values.size()),
                                reinterpret_cast<const char*>(values.data()),
                                values.size() * sizeof(T));
  }

  Error WriteInt(TRITONBACKEND_Response* response, const char* name, int64_t value) const {
    return Write<int32_t>(response, name, TRITONSERVER_TYPE_INT32, {static_cast<int32_t>(value)});
  }

  Error WriteTexts(TRITONBACKEND_Response* response, const char* name,
                   const std::vector<std::string>& texts) const {
    std::string bytes;
    for (const std::string& text : texts) {
      const auto length = static_cast<uint32_t>(text.size());
      bytes.append(reinterpret_cast<const char*>(&length), sizeof(length)).append(text);
    }
    return backend::WriteOutput(response, name, TRITONSERVER_TYPE_BYTES, Shape(texts.size()),
                                bytes.data(), bytes.size());
  }

  template <typename T>
  Error WriteRow(TRITONBACKEND_Response* response, const char* name, TRITONSERVER_DataType type,
                 T Row::*member) const {
    std::vector<T> values;
    for (const Row& row : rows_) {
      values.push_back(row.*member);
    }
    if constexpr (std::is_same_v<T, std::string>) {
      return WriteTexts(response, name, values);
    } else {
      return Write(response, name, type, values);
    }
  }

  Error Answer(Batch* batch, size_t place) {
    TRITONBACKEND_Response* response = (*batch)[place].response;
    if ((*batch)[place].reschedule) {
      return {};
    }
    return backend::ForEachRequestedOutput((*batch)[place].request, [&](const char* name) {
      return WriteNamed(response, name, place);
    });
  }

  Error WriteNamed(TRITONBACKEND_Response* response, const char* name, size_t place) const {
    const Row& row = rows_[place];
    const std::map<std::string, std::function<Error()>> kOutputs = {
        {"OUTPUT", [&] { return WriteInt(response, name, row.sum); }},
        {"OUTPUT_STATE", [&] { return Write(response, name, TRITONSERVER_TYPE_INT32, row.state); }},
        {"START_ROW",
         [&] { return WriteRow(response, name, TRITONSERVER_TYPE_FP32, &Row::start); }},
        {"END_ROW", [&] { return WriteRow(response, name, TRITONSERVER_TYPE_FP32, &Row::end); }},
        {"READY_ROW",
         [&] { return WriteRow(response, name, TRITONSERVER_TYPE_FP32, &Row::ready); }},
        {"CORRID_ROW",
         [&] { return WriteRow(response, name, TRITONSERVER_TYPE_BYTES, &Row::corrid); }},
        {"INPUT_ROW",
         [&] { return WriteRow(response, name, TRITONSERVER_TYPE_INT32, &Row::input); }},
        {"SLOT", [&] { return WriteInt(response, name, static_cast<int64_t>(place)); }},
        {"BATCH", [&] { return WriteInt(response, name, static_cast<int64_t>(rows_.size())); }},
        {"EXECUTION", [&] { return WriteInt(response, name, executions_); }},
        {"ENDS", [&] { return WriteInt(response, name, ends_); }},
        {"CANCELLED_ENDS", [&] { return WriteInt(response, name, cancelled_ends_); }},
        {"FLAGS", [&] { return WriteInt(response, name, row.flags); }},
        {"INSTANCE", [&] { return WriteTexts(response, name, {name_}); }},
        {"INPUTS", [&] { return WriteTexts(response, name, {row.inputs}); }},
    };
    const auto found = kOutputs.find(name);
    if (found == kOutputs.end()) {
      return Error::InvalidArgument("the sequence backend has no output '" + std::string(name) +
                                    "'");
    }
    return found->second();
  }

  const SequenceModel& model_;
  std::string name_;
  std::atomic<bool> inside_{false};
  std::vector<backend::BatchMember> members_;
  std::vector<Row> rows_;                      // of the execution that runs
  std::map<std::string, Sequence> sequences_;  // Keep::kCorrelationId
  std::map<size_t, Sequence> slots_;           // Keep::kSlot
  int64_t executions_ = 0;
  int64_t ends_ = 0;
  int64_t cancelled_ends_ = 0;
};

}  // namespace
}  // namespace nereid::sequence

NEREID_BACKEND_PLUGIN(nereid::backend::NoBackendState, nereid::sequence::SequenceModel,
                      nereid::sequence::SequenceInstance);

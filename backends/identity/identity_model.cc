// SPDX-License-Identifier: Apache-2.0
#include "identity/identity_model.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <thread>

#include "nereid/backend/input.h"
#include "nereid/backend/log.h"
#include "nereid/backend/output.h"
#include "nereid/backend/sequence.h"

namespace nereid::identity {
namespace {

constexpr int64_t kDay = int64_t{24} * 60 * 60;
/// The longest time between a client's cancellation and the response to its request.
constexpr std::chrono::milliseconds kCancellationPoll{5};

/// Returns the name of the output for an input: "OUTPUT3" for "INPUT3", empty for other names.
std::string OutputNameOf(const std::string& input) {
  constexpr std::string_view kPrefix = "INPUT";
  return input.starts_with(kPrefix) ? "OUTPUT" + input.substr(kPrefix.size()) : std::string();
}

/// Writes the output for an optional input that the request omits: zeros (or empty strings). A
/// variable dimension becomes 1.
Error WriteZeros(const Pair& pair, bool batching, backend::BatchMember* member) {
  std::vector<int64_t> shape = pair.input.ModelDims();
  std::replace(shape.begin(), shape.end(), int64_t{-1}, int64_t{1});
  if (batching) {
    shape.insert(shape.begin(), static_cast<int64_t>(member->batch_size));
  }
  const auto type = pair.input.data_type;
  const int64_t size = type == TRITONSERVER_TYPE_BYTES
                           ? backend::TensorByteSize(TRITONSERVER_TYPE_UINT32, shape)
                           : backend::TensorByteSize(type, shape);
  if (size < 0) {
    return Error::InvalidArgument("output '" + pair.output.name + "' would be too large");
  }
  char* buffer = nullptr;
  NEREID_BACKEND_TRY(backend::AllocateOutput(member->response, pair.output.name.c_str(), type,
                                             shape, static_cast<uint64_t>(size), &buffer));
  if (size != 0) {
    std::memset(buffer, 0, static_cast<size_t>(size));
  }
  return {};
}

/// Returns the line that Triton's identity backend logs for each input.
std::string Describe(const backend::Input& input) {
  return "\tinput " + std::string(input.name) +
         ": datatype = " + TRITONSERVER_DataTypeString(input.data_type) +
         ", shape = " + backend::ShapeText(input.shape) +
         ", byte_size = " + std::to_string(input.byte_size) +
         ", buffer_count = " + std::to_string(input.buffer_count);
}

Error CopyPair(const Pair& pair, bool batching, backend::BatchMember* member) {
  backend::Input input;
  NEREID_BACKEND_TRY(backend::FindOptionalInput(member->request, pair.input.name.c_str(), &input));
  if (input.handle == nullptr) {
    return pair.input.optional
               ? WriteZeros(pair, batching, member)
               : Error::InvalidArgument("the request lacks the input '" + pair.input.name + "'");
  }
  NEREID_BACKEND_LOG(VERBOSE, Describe(input));
  char* buffer = nullptr;
  NEREID_BACKEND_TRY(backend::AllocateOutput(member->response, pair.output.name.c_str(),
                                             input.data_type, input.shape, input.byte_size,
                                             &buffer));
  return backend::CopyInput(input, buffer);
}

/// Copies a parameter of the request to its response. Types that response parameters do not support
/// are skipped.
Error EchoParameter(const char* name, TRITONSERVER_ParameterType type, const void* value,
                    TRITONBACKEND_Response* response) {
  switch (type) {
    case TRITONSERVER_PARAMETER_STRING:
      return Error(TRITONBACKEND_ResponseSetStringParameter(response, name,
                                                            static_cast<const char*>(value)));
    case TRITONSERVER_PARAMETER_INT:
      return Error(TRITONBACKEND_ResponseSetIntParameter(response, name,
                                                         *static_cast<const int64_t*>(value)));
    case TRITONSERVER_PARAMETER_BOOL:
      return Error(
          TRITONBACKEND_ResponseSetBoolParameter(response, name, *static_cast<const bool*>(value)));
    case TRITONSERVER_PARAMETER_DOUBLE:
      return Error(TRITONBACKEND_ResponseSetDoubleParameter(response, name,
                                                            *static_cast<const double*>(value)));
    default:
      return {};
  }
}

/// Adds example parameters to a response, with the values of Triton's identity backend.
Error SetExampleParameters(TRITONBACKEND_Response* response) {
  NEREID_BACKEND_TRY(
      TRITONBACKEND_ResponseSetStringParameter(response, "param0", "an example string parameter"));
  NEREID_BACKEND_TRY(TRITONBACKEND_ResponseSetIntParameter(response, "param1", 42));
  NEREID_BACKEND_TRY(TRITONBACKEND_ResponseSetBoolParameter(response, "param2", false));
  return Error(TRITONBACKEND_ResponseSetDoubleParameter(response, "param3", 123.123));
}

}  // namespace

Error IdentityBackend::Load(TRITONBACKEND_Backend* backend) {
  backend::Parameters settings;
  NEREID_BACKEND_TRY(backend::ReadBackendConfig(backend, &settings));
  return settings.ReadBool("example-parameters", &example_parameters);
}

Error IdentityModel::Load(TRITONBACKEND_Model* model) {
  NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config_));
  NEREID_BACKEND_TRY(PairTensors());
  NEREID_BACKEND_TRY(ReadParameters());
  if (creation_delay_sec_ > 0) {
    std::this_thread::sleep_for(std::chrono::seconds(creation_delay_sec_));
  }
  return {};
}

Error IdentityModel::PairTensors() {
  const std::string model = "model '" + config_.name + "': ";
  for (size_t i = 0; i < config_.outputs.size(); ++i) {
    const TensorConfig& output = config_.outputs[i];
    if (IsState(output.name)) {
      continue;
    }
    auto input = std::find_if(
        config_.inputs.begin(), config_.inputs.end(),
        [&](const TensorConfig& candidate) { return OutputNameOf(candidate.name) == output.name; });
    if (input == config_.inputs.end()) {
      if (i >= config_.inputs.size()) {
        return Error::InvalidArgument(model + "output '" + output.name +
                                      "' has no input at its position; an identity model needs one "
                                      "input for each output");
      }
      input = config_.inputs.begin() + static_cast<std::ptrdiff_t>(i);
    }
    if (input->data_type != output.data_type) {
      return Error::InvalidArgument(model + "output '" + output.name + "' is of type " +
                                    backend::DataTypeToConfig(output.data_type) +
                                    ", but its input '" + input->name + "' of type " +
                                    backend::DataTypeToConfig(input->data_type));
    }
    pairs_.push_back({*input, output});
  }
  return {};
}

bool IdentityModel::IsState(const std::string& output) const {
  return std::any_of(config_.states.begin(), config_.states.end(),
                     [&](const auto& state) { return state.output.name == output; });
}

Error IdentityModel::ReadParameters() {
  const backend::Parameters& parameters = config_.parameters;
  NEREID_BACKEND_TRY(parameters.ReadInt("creation_delay_sec", 0, kDay, &creation_delay_sec_));
  NEREID_BACKEND_TRY(parameters.ReadInt("execute_delay_ms", 0, kDay * 1000, &execute_delay_ms_));
  NEREID_BACKEND_TRY(
      parameters.ReadInt("instance_wise_delay_multiplier", 0, 1000, &delay_multiplier_));
  NEREID_BACKEND_TRY(parameters.ReadBool("echo_parameters", &echo_parameters_));
  return custom_trace_.Read(parameters);
}

std::chrono::milliseconds IdentityModel::ExecuteDelay(uint64_t index) const {
  const int64_t factor = delay_multiplier_ * static_cast<int64_t>(std::min<uint64_t>(index, 1000));
  return std::chrono::milliseconds(
      std::min(execute_delay_ms_ * std::max<int64_t>(factor, 1), kDay * 1000));
}

/// Reads the batch size and the parameters of the request.
Error IdentityInstance::Prepare(backend::BatchMember* member) {
  if (model_.batching()) {
    backend::Input input;
    NEREID_BACKEND_TRY(backend::InputAt(member->request, 0, &input));
    if (input.shape.empty() || input.shape[0] < 0) {
      return Error::InvalidArgument("input '" + std::string(input.name) + "' has the shape " +
                                    backend::ShapeText(input.shape) +
                                    ", which lacks the batch dimension");
    }
    member->batch_size = static_cast<uint64_t>(input.shape[0]);
  }
  uint32_t count = 0;
  NEREID_BACKEND_TRY(TRITONBACKEND_RequestParameterCount(member->request, &count));
  for (uint32_t i = 0; i < count; ++i) {
    const char* key = nullptr;
    TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_STRING;
    const void* value = nullptr;
    NEREID_BACKEND_TRY(TRITONBACKEND_RequestParameter(member->request, i, &key, &type, &value));
    if (type == TRITONSERVER_PARAMETER_STRING && std::string_view(key) == "fail") {
      return Error::Internal(static_cast<const char*>(value));
    }
    if (model_.echo_parameters()) {
      NEREID_BACKEND_TRY(EchoParameter(key, type, value, member->response));
    }
  }
  return {};
}

/// Keeps the value of each state: the state's output repeats its input.
Error IdentityInstance::KeepStates(backend::BatchMember* member) {
  for (const backend::StateConfig& state : model_.states()) {
    const std::string& output = state.output.name;
    backend::Input input;
    NEREID_BACKEND_TRY(backend::FindInput(member->request, state.input_name.c_str(), &input));
    TRITONBACKEND_State* next = nullptr;
    char* buffer = nullptr;
    NEREID_BACKEND_TRY(backend::AllocateState(member->request, output.c_str(), input.data_type,
                                              input.shape, input.byte_size, &next, &buffer));
    if (!state.same_buffer) {
      NEREID_BACKEND_TRY(backend::CopyInput(input, buffer));
    }
    NEREID_BACKEND_TRY(TRITONBACKEND_StateUpdate(next));
  }
  return {};
}

Error IdentityInstance::Copy(backend::BatchMember* member) {
  if (model_.example_parameters()) {
    NEREID_BACKEND_TRY(SetExampleParameters(member->response));
  }
  return backend::ForEachRequestedOutput(member->request, [&](std::string_view name) -> Error {
    for (const backend::StateConfig& state : model_.states()) {
      if (state.output.name == name) {
        TensorConfig input;
        input.name = state.input_name;
        return CopyPair({input, state.output}, model_.batching(), member);
      }
    }
    for (const Pair& pair : model_.pairs()) {
      if (pair.output.name == name) {
        return CopyPair(pair, model_.batching(), member);
      }
    }
    return Error::InvalidArgument("the model has no output '" + std::string(name) + "'");
  });
}

Error IdentityInstance::Trace(backend::BatchMember* member) {
  return model_.custom_trace().Report(member->request);
}

/// Waits for the configured delay, or until all clients have cancelled.
void IdentityInstance::Wait(Batch* batch) const {
  const auto end = std::chrono::steady_clock::now() + delay_;
  while (batch->FailCancelled()) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left.count() <= 0) {
      return;
    }
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, kCancellationPoll));
  }
}

void IdentityInstance::Execute(TRITONBACKEND_ModelInstance* instance,
                               TRITONBACKEND_Request** requests, uint32_t count) {
  Batch batch(instance, requests, count, &members_);
  const auto for_each = [&](Error (IdentityInstance::*step)(backend::BatchMember*)) {
    for (size_t i = 0; i < batch.size(); ++i) {
      if (!batch.failed(i)) {
        batch.Fail(i, backend::Catching([&] { return (this->*step)(&batch[i]); }));
      }
    }
  };
  for_each(&IdentityInstance::Prepare);
  batch.ComputeStarts();
  if (delay_.count() > 0) {
    Wait(&batch);
  }
  if (model_.custom_trace().enabled) {
    for_each(&IdentityInstance::Trace);
  }
  batch.ComputeEnds();
  for_each(&IdentityInstance::KeepStates);
  for_each(&IdentityInstance::Copy);
}

}  // namespace nereid::identity

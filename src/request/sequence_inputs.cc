// SPDX-License-Identifier: Apache-2.0
#include "request/sequence_inputs.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "request/binding.h"
#include "request/discarding_sink.h"
#include "tensor/bytes.h"

namespace nereid::request {
namespace {

using base::Status;
using config::ControlKind;
using config::ControlSpec;
using tensor::DataType;

bool IsTrue(ControlKind kind, const InferenceRequest& request, bool ready) {
  switch (kind) {
    case ControlKind::kStart:
      return (request.flags & kFlagSequenceStart) != 0;
    case ControlKind::kEnd:
      return (request.flags & kFlagSequenceEnd) != 0;
    default:
      return ready;
  }
}

uint64_t ZeroSize(const Input& input) {
  return tensor::ZeroByteSize(input.type, input.shape).value_or(0);
}

const uint64_t kNoId = 0;

/// Adds the id as a BYTES element. CheckCorrelationId has refused ids of the wrong kind from
/// clients; ids made by the server (iterative sequences, null requests) are numbers and become text
/// here.
Status AppendTextId(InferenceRequest& request, Input* input) {
  std::string element;
  tensor::AppendBytesElement(request.is_null ? "" : CorrelationIdText(request.correlation_id),
                             &element);
  memory::HostBuffer buffer = memory::HostBuffer::Allocate(element.size());
  if (!buffer) return Status::Unavailable("out of memory");
  std::memcpy(buffer.data(), element.data(), element.size());
  input->Append(buffer.data(), buffer.size());
  request.Hold(std::move(buffer));
  return Status::Ok();
}

/// Adds the low-order bytes of the id as a view of the request's own member.
void AppendNumericId(InferenceRequest& request, Input* input) {
  const auto* number = std::get_if<uint64_t>(&request.correlation_id);
  input->Append(number == nullptr ? &kNoId : number, tensor::DataTypeByteSize(input->type));
}

}  // namespace

SequenceInputs::SequenceInputs(config::ModelConfigPtr config,
                               std::shared_ptr<const StateLayout> layout)
    : config_(std::move(config)),
      layout_(std::move(layout)),
      control_shape_(config_->max_batch_size() > 0 ? 2 : 1, 1),
      null_sink_(std::make_shared<DiscardingSink>()) {}

base::Result<std::shared_ptr<SequenceInputs>> SequenceInputs::Create(
    config::ModelConfigPtr config, const std::string& model_directory) {
  if (!config->sequence_batching()) {
    return Status::Internal("model '" + config->name() + "' has no sequence batching");
  }
  NEREID_ASSIGN_OR_RETURN(auto layout,
                          StateLayout::Create(config->name(), config->sequence_batching()->states,
                                              config->max_batch_size() > 0, model_directory));
  return std::shared_ptr<SequenceInputs>(new SequenceInputs(std::move(config), std::move(layout)));
}

std::shared_ptr<SequenceStates> SequenceInputs::NewStates() const {
  return has_states() ? std::make_shared<SequenceStates>(layout_) : nullptr;
}

Status SequenceInputs::CheckCorrelationId(const InferenceRequest& request) const {
  for (const ControlSpec& control : config_->sequence_batching()->controls) {
    if (control.kind != ControlKind::kCorrelationId) continue;
    const bool is_text = std::holds_alternative<std::string>(request.correlation_id);
    const bool wants_text = control.data_type == DataType::kBytes;
    if (is_text == wants_text) continue;
    return Status::InvalidArgument(
        request.LogPrefix() + "sequence batching control '" + control.name + "' data-type is '" +
        (is_text ? "BYTES" : "UINT64") + "', but model '" + config_->name() + "' expects '" +
        std::string(tensor::DataTypeName(control.data_type)) + "'");
  }
  return Status::Ok();
}

Status SequenceInputs::AddControls(InferenceRequest& request, bool ready) const {
  for (const ControlSpec& control : config_->sequence_batching()->controls) {
    Input* const input =
        request.inputs().AddByServer(control.name, control.data_type, control_shape_);
    if (control.kind != ControlKind::kCorrelationId) {
      const bool is_true = IsTrue(control.kind, request, ready);
      const std::string& bytes = is_true ? control.true_bytes : control.false_bytes;
      input->Append(bytes.data(), bytes.size());
    } else if (control.data_type == DataType::kBytes) {
      NEREID_RETURN_IF_ERROR(AppendTextId(request, input));
    } else {
      AppendNumericId(request, input);
    }
  }
  return Status::Ok();
}

Status SequenceInputs::Attach(InferenceRequest& request, std::shared_ptr<SequenceStates> states,
                              bool ready) const {
  if (states != nullptr && ((request.flags & kFlagSequenceStart) != 0 || !states->is_set())) {
    NEREID_RETURN_IF_ERROR(states->Reset());
  }
  request.inputs().reserve(request.inputs().size() + config_->sequence_batching()->controls.size() +
                           layout_->entries().size());
  if (Status status = AddControls(request, ready); !status.ok()) {
    request.inputs().RemoveAddedByServer();
    return status;
  }
  request.states = std::move(states);
  if (request.states != nullptr) request.states->AddTo(request.inputs());
  return Status::Ok();
}

base::Result<std::unique_ptr<InferenceRequest>> SequenceInputs::NewNullRequest(
    const InferenceRequest& reference) const {
  auto request = std::make_unique<InferenceRequest>();
  request->is_null = true;
  request->model_name = reference.model_name;
  request->model_version = reference.model_version;
  request->batch_size = reference.batch_size;
  request->times = reference.times;
  uint64_t most = 0;
  for (const Input& input : reference.inputs().client()) most = std::max(most, ZeroSize(input));
  const std::shared_ptr<const char> zeros = zeros_.AtLeast(most);
  if (zeros == nullptr) {
    return Status::Unavailable("out of memory: a place of a batch of model '" + config_->name() +
                               "' needs " + std::to_string(most) + " bytes of zeros");
  }
  request->inputs().reserve(reference.inputs().size());
  for (const Input& input : reference.inputs().client()) {
    NEREID_ASSIGN_OR_RETURN(Input* const copy,
                            request->AddInput(input.name, input.type, input.shape));
    copy->model_shape = input.model_shape;
    copy->Append(zeros.get(), ZeroSize(input));
  }
  request->Hold(std::shared_ptr<const void>(zeros));
  std::shared_ptr<SequenceStates> states;
  if (reference.states != nullptr) {
    NEREID_ASSIGN_OR_RETURN(states, SequenceStates::MakeDummy(*reference.states, zeros_));
  }
  NEREID_RETURN_IF_ERROR(Attach(*request, std::move(states), /*ready=*/false));
  request->SetSink(null_sink_);
  BindRequest(*request, reference.model());
  return request;
}

}  // namespace nereid::request

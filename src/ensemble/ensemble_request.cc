// SPDX-License-Identifier: Apache-2.0
#include "ensemble/ensemble_request.h"

#include <algorithm>

#include "base/as_internal.h"
#include "base/byte_budget.h"
#include "base/log.h"
#include "ensemble/adapt_shape.h"
#include "ensemble/step_request.h"
#include "request/binding.h"
#include "request/output_shape.h"
#include "request/response_factory.h"
#include "request/response_sink.h"

namespace nereid::ensemble {

using base::Status;
using request::InferenceRequest;
using request::InferenceResponse;

namespace {

/// Returns whether the model's instances read GPU memory: an ensemble's do not count, because its
/// own members may be on the CPU.
bool RunsOnGpus(const config::ModelConfig& config) {
  const auto& groups = config.instance_groups();
  return !groups.empty() && std::all_of(groups.begin(), groups.end(), [](const auto& group) {
    return group.kind == config::InstanceKind::kGpu;
  });
}

/// Returns INTERNAL if `shape` does not fit `dims` (without the batch dimension). `subject` names
/// the tensor in the message.
Status CheckShape(const std::string& subject, const tensor::Shape& shape, const tensor::Shape& dims,
                  bool batching) {
  const tensor::Shape expected = ShapePattern(dims, batching);
  if (tensor::ShapeMatches(expected, shape)) return Status::Ok();
  return Status::Internal(subject + " has the shape " + tensor::ShapeText(shape) + ", expected " +
                          tensor::ShapeText(expected));
}

/// Returns whether a tensor that another model has made does not fit the model of `step`. Then it
/// is not the client's fault that the model refuses the request. `batch_size` is the client's.
bool HasWrongTensor(const EnsemblePlan& plan, size_t step, const config::ModelConfig& config,
                    const InferenceRequest& request, int64_t batch_size) {
  const auto& mappings = plan.steps()[step].inputs;
  return std::any_of(mappings.begin(), mappings.end(), [&](const EnsemblePlan::Mapping& mapping) {
    if (plan.tensors()[mapping.tensor].producer == kNoStep) return false;
    const request::Input* const input = request.inputs().Find(mapping.name);
    const config::TensorSpec* const spec = config.FindInput(mapping.name);
    if (input == nullptr || spec == nullptr) return false;
    std::span<const int64_t> item = input->shape;
    if (item.size() == spec->dims.size() + 1 && item[0] == std::max<int64_t>(batch_size, 1)) {
      item = item.subspan(1);
    }
    return !tensor::ShapeMatches(spec->dims, item);
  });
}

}  // namespace

/// Receives the responses of one step's request. Keeps the ensemble's request alive until the
/// member has released the step's request.
class EnsembleRequest::StepSink final : public request::ResponseSink {
 public:
  StepSink(std::shared_ptr<EnsembleRequest> owner, const EnsembleRun::StepStart& start,
           SequenceFields sequence)
      : id(start.id), step(start.step), sequence(std::move(sequence)), owner_(std::move(owner)) {}

  void Send(std::unique_ptr<InferenceResponse> response, bool final) noexcept override {
    owner_->OnStepResponse(*this, std::move(response), final);
  }
  void RequestReleased(std::unique_ptr<InferenceRequest> request) noexcept override {
    request.reset();
    owner_->OnStepReleased();
  }
  base::Status AllocateOutput(request::Output* output, size_t size) noexcept override {
    // Strings are checked before the next model reads them, which takes host memory.
    if (output->memory_type == memory::MemoryType::kGpu &&
        output->type != tensor::DataType::kBytes && owner_->KeepsOnGpu(step, output->name)) {
      auto buffer = memory::DeviceBuffer::OnGpu(output->memory_type_id, size);
      if (buffer.ok()) {
        output->device = std::move(buffer).value();
        output->data = output->device.data();
        return Status::Ok();
      }
      LOG_VERBOSE(1) << "output '" << output->name << "' of model '" << owner_->ModelOf(step)
                     << "' goes through host memory: " << buffer.status().message();
    }
    return ResponseSink::AllocateOutput(output, size);
  }
  Status QueryOutput(std::string_view name, size_t* size, memory::MemoryType* type,
                     int64_t* id) noexcept override {
    if (*type == memory::MemoryType::kGpu && owner_->KeepsOnGpu(step, name)) return Status::Ok();
    return ResponseSink::QueryOutput(name, size, type, id);
  }

  const size_t id;
  const size_t step;
  const SequenceFields sequence;  // of the step's request

 private:
  const std::shared_ptr<EnsembleRequest> owner_;
};

void EnsembleRequest::Start(const EnsembleParts& parts, std::unique_ptr<InferenceRequest> request,
                            std::vector<Member> members) {
  std::make_shared<EnsembleRequest>(parts, std::move(request), std::move(members))->Begin();
}

EnsembleRequest::EnsembleRequest(const EnsembleParts& parts,
                                 std::unique_ptr<InferenceRequest> request,
                                 std::vector<Member> members)
    : parts_(parts),
      model_(*request->model()),
      outputs_(TensorsOf(parts.plan, request->requested_outputs)),
      times_(std::make_shared<request::ComputeTimes>()),
      members_(std::move(members)),
      request_(std::move(request)),
      run_(parts.plan, outputs_) {}

void EnsembleRequest::Begin() {
  request_->StampQueueStart(parts_.clock.NowNs());
  Status status = members_.empty() ? TakeMembers() : Status::Ok();
  const SequenceFields sequence{request_->correlation_id, request_->flags};
  std::vector<std::pair<size_t, TensorPtr>> inputs;
  for (const request::Input& input : request_->inputs()) {
    const int tensor = parts_.plan.FindTensor(input.name);
    if (tensor < 0) continue;
    inputs.emplace_back(static_cast<size_t>(tensor),
                        ViewInput(input, model_.config->max_batch_size() > 0, sequence));
  }
  // Before the lock is taken: OnCancelled takes mutex_ under the Cancellation's lock.
  request_->cancellation()->SetListener(this);
  base::MutexLock lock(mutex_);
  run_.Begin(inputs);
  inputs.clear();
  if (!status.ok()) FailLocked(std::move(status));
  Drive(request_->may_run_inline ? Driver::kLentThread : Driver::kThread);
}

Status EnsembleRequest::TakeMembers() {
  size_t step = 0;
  auto found = FindMembers(parts_.plan, parts_.members, *request_, outputs_, &step);
  if (!found.ok()) {
    members_.resize(parts_.plan.steps().size());
    return InStep(step, found.status());
  }
  members_ = std::move(found).value();
  return Status::Ok();
}

Status EnsembleRequest::InStep(size_t step, const Status& error) const {
  const std::string quoted = "'" + parts_.plan.steps()[step].model + "'";
  std::string text = error.message();
  // Many of Triton's texts name the model already.
  if (text.find(quoted) == std::string::npos) {
    text += " (step " + std::to_string(step) + ", model " + quoted + ")";
  }
  return Status(error.code(), "in ensemble '" + model_.name + "', " + text);
}

Status EnsembleRequest::CancelledError() const {
  return Status::Cancelled("in ensemble '" + model_.name + "', " + request_->LogPrefix() +
                           "Request was cancelled");
}

Status EnsembleRequest::StuckError() const {
  std::string text = "in ensemble '" + model_.name + "', " + request_->LogPrefix() +
                     "unexpected deadlock, at least one output is not set while no more ensemble "
                     "steps can be made";
  if (const int step = run_.SilentStep(); step != kNoStep) {
    text += ": step " + std::to_string(step) + ", model '" +
            parts_.plan.steps()[static_cast<size_t>(step)].model +
            "', has ended without a response";
  }
  return Status::Internal(std::move(text));
}

void EnsembleRequest::FailLocked(Status error) {
  if (run_.failed()) return;
  run_.Fail(std::move(error));
  for (const auto& limit : parts_.limits) {
    for (const EnsembleRun::StepStart& start : limit->Withdraw(*this)) run_.OnFinished(start.id);
  }
}

void EnsembleRequest::OnCancelled() noexcept {
  std::vector<std::shared_ptr<request::Cancellation>> active;
  {
    base::MutexLock lock(mutex_);
    active.reserve(active_.size());
    for (const auto& [id, cancellation] : active_) active.push_back(cancellation);
  }
  for (const auto& cancellation : active) cancellation->Cancel();
  // Starts that wait in a StepLimit are given up on the timers' thread. The error must not be sent
  // from here: this runs under the lock of the client's Cancellation, in the middle of the front
  // end's Cancel.
  parts_.timers.Schedule(parts_.clock.NowNs(), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->CancelWaiting();
  });
}

void EnsembleRequest::CancelWaiting() {
  base::MutexLock lock(mutex_);
  // While a member has a request, the member answers with its own cancellation.
  if (phase_ != Phase::kRunning || !active_.empty()) return;
  FailLocked(CancelledError());
  Drive();
}

void EnsembleRequest::Continue() {
  base::MutexLock lock(mutex_);
  Drive();
}

void EnsembleRequest::Drive(Driver driver) {
  if (driver_ != Driver::kNone) return;
  driver_ = driver;
  uint64_t turn_ends_ns = 0;  // 0: not known yet
  bool leaves_rest = false;
  for (size_t done = 1; !leaves_rest && DriveOnce(); ++done) {
    // Most requests take only a few rounds, so the clock is read in every 16th.
    if (done % 16 != 0 || base::ThreadMayBlock()) continue;
    const uint64_t now_ns = parts_.clock.NowNs();
    if (turn_ends_ns == 0) turn_ends_ns = now_ns + kMaxTurnNs;
    leaves_rest = now_ns >= turn_ends_ns;
  }
  driver_ = Driver::kNone;
  if (!leaves_rest) return;
  parts_.timers.Schedule(parts_.clock.NowNs(), [self = shared_from_this()] { self->Continue(); });
}

bool EnsembleRequest::DriveOnce() {
  // Responses come first: the client of a decoupled ensemble gets them while steps still run.
  if (auto response = run_.TakeResponse()) {
    SendResponse(*std::move(response));
    return true;
  }
  if (auto start = run_.TakeStart()) {
    BeginStep(*std::move(start));
    return true;
  }
  // Nothing is due while steps run: their events call Drive again.
  if (!run_.IsOver()) return false;
  if (phase_ == Phase::kRunning) {
    Answer();
    return true;
  }
  // The tensors are views of the client's request, so it is kept until all steps have released
  // their requests.
  if (phase_ == Phase::kAnswered && unreleased_ == 0) Finish();
  return false;
}

void EnsembleRequest::SendResponse(EnsembleRun::Response values) {
  // The last response carries the final flag, but only if no step is running that could fail.
  const bool final = run_.IsOver() && !run_.HasResponse();
  // Set before the lock is released, so that a cancellation does not answer too.
  if (final) phase_ = Phase::kAnswered;
  Status status;
  {
    base::MutexUnlock unlocked(mutex_);
    status = Respond(values, final);
    values.clear();
  }
  if (status.ok()) return;
  phase_ = Phase::kRunning;
  FailLocked(std::move(status));
}

void EnsembleRequest::BeginStep(EnsembleRun::StepStart start) {
  // TakeStart has made the step count as running, so each way out of here must lead to OnFinished.
  if (request_->IsCancelled()) {
    start.inputs.clear();
    FailLocked(CancelledError());
    run_.OnFinished(start.id);
    return;
  }
  StepLimit& limit = *parts_.limits[start.step];
  const bool may_run_inline = driver_ == Driver::kLentThread;
  bool started = false;
  {
    base::MutexUnlock unlocked(mutex_);
    started = limit.Acquire(shared_from_this(), start);
    if (started) StartStep(std::move(start), may_run_inline);
  }
  // Without a start, `start` now waits in the limit. If the run failed before Acquire and without
  // mutex_, FailLocked looked for waiting starts too early and did not see this one.
  if (started || !run_.failed()) return;
  for (const auto& waiting : limit.Withdraw(*this)) run_.OnFinished(waiting.id);
}

void EnsembleRequest::Answer() {
  phase_ = Phase::kAnswered;
  const Status error = run_.failed() ? run_.error() : run_.IsStuck() ? StuckError() : Status::Ok();
  if (!error.ok()) run_.Fail(error);
  base::MutexUnlock unlocked(mutex_);
  request_->cancellation()->SetListener(nullptr);
  parts_.observer.OnAnswer(*request_, error);
  if (error.ok()) {
    request_->response_factory()->SendFinal();
  } else {
    request_->response_factory()->SendError(error);
  }
}

void EnsembleRequest::Finish() {
  phase_ = Phase::kFinished;
  kept_ = request_->model();
  const bool succeeded = !run_.failed();
  base::MutexUnlock unlocked(mutex_);
  request_->cancellation()->SetListener(nullptr);
  if (succeeded) parts_.observer.OnEnd(*request_, *times_);
  request::ReleaseRequest(std::move(request_));
}

void EnsembleRequest::OnTurn(EnsembleRun::StepStart start) {
  bool failed = false;
  {
    base::MutexLock lock(mutex_);
    failed = run_.failed();
    if (failed) {
      run_.OnFinished(start.id);
      Drive();
    }
  }
  if (!failed) return StartStep(std::move(start), /*may_run_inline=*/false);
  parts_.limits[start.step]->Release();
}

void EnsembleRequest::StartStep(EnsembleRun::StepStart start, bool may_run_inline) {
  const size_t id = start.id, step = start.step;
  const Member& member = members_[step];
  auto sink = std::make_shared<StepSink>(shared_from_this(), start, SequenceOf(*request_, start));
  std::unique_ptr<InferenceRequest> request = MakeStepRequest(
      *request_, parts_.plan.steps()[step], start, *member.identity->config, std::move(sink));
  start.inputs.clear();
  request->compute_times = times_;
  request->times.start_ns = parts_.clock.NowNs();
  request->may_run_inline = may_run_inline;
  const std::shared_ptr<request::Cancellation> cancellation = request->cancellation();
  {
    base::MutexLock lock(mutex_);
    active_.emplace(id, cancellation);
    ++unreleased_;
  }
  // After active_ has the cancellation: OnCancelled either finds it there or came before this
  // check.
  if (request_->IsCancelled()) cancellation->Cancel();
  const Status status =
      member.watch == nullptr
          ? model::Submit(member.identity, member.receiver(), request)
          : model::Submit(member.identity, member.receiver(), request, *member.watch);
  if (status.ok()) return;
  // The member refused the request, which therefore still belongs to this function. `refused` is
  // destroyed after the lock is released.
  const auto refused = std::move(request);
  const bool is_ours =
      status.code() == base::StatusCode::kInvalidArgument &&
      HasWrongTensor(parts_.plan, step, *member.identity->config, *refused, request_->batch_size);
  const Status error = is_ours ? base::AsInternal(status) : status;
  {
    base::MutexLock lock(mutex_);
    active_.erase(id);
    --unreleased_;
    FailLocked(InStep(step, error));
    run_.OnFinished(id);
    Drive();
  }
  parts_.limits[step]->Release();
}

bool EnsembleRequest::KeepsOnGpu(size_t step, std::string_view output) const {
  for (const EnsemblePlan::Mapping& mapping : parts_.plan.steps()[step].outputs) {
    if (mapping.name != output) continue;
    const EnsemblePlan::Tensor& tensor = parts_.plan.tensors()[mapping.tensor];
    bool is_read = false;
    for (const size_t reader : tensor.consumers) {
      if (members_[reader].identity == nullptr) continue;  // a step that nobody needs
      if (!RunsOnGpus(*members_[reader].identity->config)) return false;
      is_read = true;
    }
    const bool is_requested =
        std::find(outputs_.begin(), outputs_.end(), mapping.tensor) != outputs_.end();
    return is_requested ? ClientTakesGpu(tensor.name) : is_read;
  }
  return false;
}

bool EnsembleRequest::ClientTakesGpu(const std::string& output) const {
  // Only such a request is kept from the threads that must not wait for a copy.
  if (!request_->has_gpu_memory) return false;
  auto type = memory::MemoryType::kGpu;
  int64_t id = 0;
  const Status status =
      request_->response_factory()->sink().QueryOutput(output, nullptr, &type, &id);
  return status.ok() && type == memory::MemoryType::kGpu;
}

base::Result<std::vector<TensorPtr>> EnsembleRequest::TakeOutputs(const StepSink& sink,
                                                                  InferenceResponse& response) {
  const EnsemblePlan::Step& step = parts_.plan.steps()[sink.step];
  const config::ModelConfig& member = *response.model().config;
  const bool batching = member.max_batch_size() > 0;
  const SequenceFields sequence = WithParameters(sink.sequence, response.parameters());
  std::vector<TensorPtr> values(step.outputs.size());
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    for (const auto& output : response.outputs()) {
      if (output->name != step.outputs[i].name) continue;
      if (const config::TensorSpec* const spec = member.FindOutput(output->name)) {
        NEREID_RETURN_IF_ERROR(CheckShape("output '" + output->name + "' for the tensor '" +
                                              parts_.plan.tensors()[step.outputs[i].tensor].name +
                                              "'",
                                          output->shape, spec->dims, batching));
      }
      values[i] = TakeOutput(*output, batching, sequence);
      break;
    }
  }
  return values;
}

void EnsembleRequest::OnStepResponse(const StepSink& sink,
                                     std::unique_ptr<InferenceResponse> response, bool final) {
  Status status;
  std::vector<TensorPtr> outputs;
  const bool answers = response != nullptr;
  if (answers) {
    status = response->error();
    if (status.ok()) {
      auto taken = TakeOutputs(sink, *response);
      status = taken.status();
      if (status.ok()) outputs = std::move(taken).value();
    }
    response.reset();
  }
  {
    base::MutexLock lock(mutex_);
    if (answers && status.ok()) status = run_.OnResponse(sink.id, std::move(outputs));
    if (!status.ok()) FailLocked(InStep(sink.step, status));
    if (final) {
      active_.erase(sink.id);
      run_.OnFinished(sink.id);
    }
    Drive();
  }
  // Without the lock: Release may call OnTurn of this or other requests.
  if (final) parts_.limits[sink.step]->Release();
}

void EnsembleRequest::OnStepReleased() {
  base::MutexLock lock(mutex_);
  --unreleased_;
  Drive();
}

Status EnsembleRequest::Respond(const EnsembleRun::Response& values, bool final) {
  const config::ModelConfig& config = *model_.config;
  request::ResponseFactory& factory = *request_->response_factory();
  NEREID_ASSIGN_OR_RETURN(auto response, factory.NewResponse());
  SequenceFields sequence{request_->correlation_id, request_->flags};
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == nullptr) continue;
    // The value is shared, but its bytes are never written again: the front end may take them.
    const auto value = std::static_pointer_cast<const EnsembleTensor>(values[i]);
    const EnsemblePlan::Tensor& tensor = parts_.plan.tensors()[outputs_[i]];
    const config::TensorSpec& spec = *config.FindOutput(tensor.name);
    const auto step = static_cast<size_t>(tensor.producer);
    if (value->type != spec.data_type) {
      return InStep(
          step, Status::Internal("output '" + tensor.name + "' has the data type " +
                                 std::string(tensor::DataTypeName(value->type)) + ", expected " +
                                 std::string(tensor::DataTypeName(spec.data_type))));
    }
    const bool batching = config.max_batch_size() > 0;
    const tensor::Shape& dims = spec.reshape ? *spec.reshape : spec.dims;
    tensor::Shape shape = AdaptShape(value->shape, value->batching, dims, batching);
    const Status fits = CheckShape("output '" + tensor.name + "'", shape, dims, batching);
    if (!fits.ok()) return InStep(step, fits);
    if (spec.reshape) {
      NEREID_ASSIGN_OR_RETURN(shape, request::ClientShape(config, tensor.name, shape));
    }
    NEREID_ASSIGN_OR_RETURN(request::Output * output,
                            response->AddOutput(tensor.name, value->type, std::move(shape)));
    NEREID_RETURN_IF_ERROR(response->LendOutput(
        output, {value->data, value->size, value, value->memory_type, value->memory_type_id}));
    sequence = value->sequence;
  }
  response->parameters() = ToParameters(sequence);
  // Before the final response: after it the front end may be destroyed.
  if (final) {
    request_->cancellation()->SetListener(nullptr);
    parts_.observer.OnAnswer(*request_, Status::Ok());
  }
  factory.Send(std::move(response), final);
  return Status::Ok();
}

}  // namespace nereid::ensemble

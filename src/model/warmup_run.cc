// SPDX-License-Identifier: Apache-2.0
// Executes warm-up samples: requests that no client sent, without the scheduler.
#include "base/log.h"
#include "base/mutex.h"
#include "model/warmup.h"
#include "request/binding.h"
#include "request/normalize.h"
#include "request/response_factory.h"

namespace nereid::model {

using base::Status;
using request::InferenceRequest;

namespace {

/// Counts the final responses of one execution and collects their errors.
class WarmupSink final : public request::ResponseSink {
 public:
  explicit WarmupSink(size_t requests) : unanswered_(requests) {}

  void Send(std::unique_ptr<request::InferenceResponse> response, bool final) noexcept override {
    base::MutexLock lock(mutex_);
    if (response != nullptr && !response->error().ok()) {
      errors_ += response->error().message() + "; ";
    }
    if (final && --unanswered_ == 0) done_.NotifyAll();
  }

  /// Blocks until every request has its final response. Returns the errors, "" if there were none.
  std::string WaitForErrors() {
    base::MutexLock lock(mutex_);
    while (unanswered_ > 0) done_.Wait(lock);
    return errors_;
  }

 private:
  base::Mutex mutex_;
  base::ConditionVariable done_;  // unanswered_ is 0
  size_t unanswered_ NEREID_GUARDED_BY(mutex_);
  std::string errors_ NEREID_GUARDED_BY(mutex_);
};

Status AddInput(const WarmupInput& input, InferenceRequest* request) {
  NEREID_ASSIGN_OR_RETURN(request::Input * added,
                          request->AddInput(input.name, input.type, input.shape));
  added->model_shape = input.shape;
  added->Append(input.data->data(), input.data->size());
  request->Hold(std::static_pointer_cast<const void>(input.data));
  return Status::Ok();
}

/// Adds a tensor that the configuration's `input` lacks: a control or a state. It replaces the one
/// that the server has added, or is passed to the backend as it is.
Status AddControl(const WarmupInput& input, InferenceRequest* request) {
  request::Input* const there = request->inputs().Find(input.name);
  if (there == nullptr) return AddInput(input, request);
  there->type = input.type;
  there->shape = there->model_shape = input.shape;
  there->pieces.clear();
  there->Append(input.data->data(), input.data->size());
  request->Hold(std::static_pointer_cast<const void>(input.data));
  return Status::Ok();
}

base::Result<schedule::RequestPtr> MakeRequest(
    const WarmupSample& sample, const std::shared_ptr<const request::ModelIdentity>& model,
    const std::shared_ptr<request::ResponseSink>& sink, uint64_t now_ns,
    const request::SequenceInputs* sequence) {
  auto request = std::make_unique<InferenceRequest>();
  request->model_name = model->name;
  request->model_version = model->version;
  request->times = {now_ns, now_ns};
  request->SetSink(sink);
  request::BindRequest(*request, model);
  Status status;
  for (const WarmupInput& input : sample.inputs) {
    if (status.ok() && !input.is_control) status = AddInput(input, request.get());
  }
  if (status.ok()) status = request::Normalize(*request);
  if (status.ok() && sequence != nullptr) {
    request->flags = request::kFlagSequenceStart | request::kFlagSequenceEnd;
    status = sequence->Attach(*request, sequence->NewStates());
  }
  // Added after Normalize, which would refuse inputs that the configuration does not have.
  for (const WarmupInput& input : sample.inputs) {
    if (status.ok() && input.is_control) status = AddControl(input, request.get());
  }
  if (status.ok()) return request;
  request->response_factory()->Disarm();
  return status;
}

Status RunOnce(const WarmupSample& sample,
               const std::shared_ptr<const request::ModelIdentity>& model, uint64_t now_ns,
               schedule::BatchRunner& instance, const request::SequenceInputs* sequence) {
  auto sink = std::make_shared<WarmupSink>(sample.requests);
  schedule::Batch batch;
  NEREID_ASSIGN_OR_RETURN(batch.requests,
                          MakeWarmupRequests(sample, model, sink, now_ns, sequence));
  instance.Run(std::move(batch));
  // A backend may send responses after its Execute has returned.
  const std::string errors = sink->WaitForErrors();
  if (errors.empty()) return Status::Ok();
  return Status::InvalidArgument("failed to run warmup sample '" + sample.name + "': " + errors);
}

}  // namespace

base::Result<std::vector<schedule::RequestPtr>> MakeWarmupRequests(
    const WarmupSample& sample, const std::shared_ptr<const request::ModelIdentity>& model,
    const std::shared_ptr<request::ResponseSink>& sink, uint64_t now_ns,
    const request::SequenceInputs* sequence) {
  std::vector<schedule::RequestPtr> requests;
  for (uint32_t i = 0; i < sample.requests; ++i) {
    auto request = MakeRequest(sample, model, sink, now_ns, sequence);
    if (!request.ok()) {
      for (const auto& made : requests) made->response_factory()->Disarm();
      return request.status();
    }
    requests.push_back(std::move(request).value());
  }
  return requests;
}

Status RunWarmup(const std::vector<WarmupSample>& samples,
                 const std::shared_ptr<const request::ModelIdentity>& model,
                 const base::Clock& clock, schedule::BatchRunner& instance,
                 const request::SequenceInputs* sequence) {
  for (const WarmupSample& sample : samples) {
    for (uint32_t execution = 1; execution <= sample.executions; ++execution) {
      LOG_VERBOSE(1) << "model '" << model->name << "' is running warmup sample '" << sample.name
                     << "' for iteration " << execution;
      NEREID_RETURN_IF_ERROR(RunOnce(sample, model, clock.NowNs(), instance, sequence));
    }
  }
  return Status::Ok();
}

}  // namespace nereid::model

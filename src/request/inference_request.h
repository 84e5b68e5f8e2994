// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "memory/host_buffer.h"
#include "request/cancellation.h"
#include "request/compute_times.h"
#include "request/model_identity.h"
#include "request/release_listener.h"
#include "request/request_fields.h"
#include "request/request_inputs.h"
#include "request/shared_tensors.h"
#include "request/trace.h"

namespace nereid::request {

class ResponseFactory;
class ResponseSink;
class SequenceStates;

/// Monotonic times of a request's progress in nanoseconds; 0: not reached.
struct RequestTimes {
  uint64_t start_ns = 0;  // the front end passed it to the service
  uint64_t queue_ns = 0;  // it entered the scheduler
};

/// One inference request, from the front end that decodes it to the backend that releases it: what
/// the client asks for (RequestFields), its input tensors (RequestInputs), and its life, in the
/// order new → submitted (Bind) → released (Unbind) → possibly submitted again (PrepareForReuse).
///
/// A request has exactly one owner at any time, and only the owner may access it. After submission
/// the front end keeps only the Cancellation. Not thread-safe.
class InferenceRequest : public RequestFields {
 public:
  InferenceRequest();
  ~InferenceRequest();
  InferenceRequest(const InferenceRequest&) = delete;
  InferenceRequest& operator=(const InferenceRequest&) = delete;

  // ---- Set by a front end, with the fields of RequestFields ----

  RequestInputs& inputs() { return inputs_; }
  const RequestInputs& inputs() const { return inputs_; }
  /// Call the functions Add, AddRaw and Remove of inputs(), with LogPrefix() in front of errors.
  base::Result<Input*> AddInput(std::string_view name, tensor::DataType type, tensor::Shape shape);
  base::Result<Input*> AddRawInput(std::string_view name);
  base::Status RemoveInput(std::string_view name);

  /// Keeps memory that inputs refer to alive until the request is destroyed.
  void Hold(memory::HostBuffer buffer) { held_buffers_.push_back(std::move(buffer)); }
  void Hold(std::shared_ptr<const void> owner) { held_objects_.push_back(std::move(owner)); }
  /// Returns an owner of all memory that the request holds, for another request with the same
  /// inputs. The request keeps that memory, too.
  std::shared_ptr<const void> ShareHeld();

  /// Sets the destination of the responses. Must be called before submission.
  void SetSink(std::shared_ptr<ResponseSink> sink);
  const std::shared_ptr<ResponseSink>& sink() const { return sink_; }

  /// Returns the request's Cancellation; every request has one.
  const std::shared_ptr<Cancellation>& cancellation() const { return cancellation_; }
  /// Returns whether the request was cancelled.
  bool IsCancelled() const { return cancellation_->IsCancelled(); }

  /// Sets the trace of the request; null, as for most requests, records nothing. Must be called
  /// before submission. The trace returns to its listener when the request, its responses and the
  /// backend's references are gone, or when the submission fails.
  void SetTrace(std::shared_ptr<Trace> trace) { trace_ = std::move(trace); }
  Trace* trace() const { return trace_.get(); }
  const std::shared_ptr<Trace>& shared_trace() const { return trace_; }

  /// The tensors that are in shared memory; null for most requests. The server takes it, and gives
  /// the inputs their bytes, when the request is submitted.
  std::unique_ptr<const SharedTensors> shared_tensors;

  /// Set by a front end whose thread may execute a cheap model itself; see schedule::InlinePolicy.
  bool may_run_inline = false;

  // ---- Set by the server ----

  /// See BindRequest, which calls this.
  void Bind(std::shared_ptr<const ModelIdentity> model, std::shared_ptr<ResponseFactory> factory);
  /// Returns the model and the response factory; null unless the request is submitted.
  const std::shared_ptr<const ModelIdentity>& model() const { return model_; }
  const std::shared_ptr<ResponseFactory>& response_factory() const { return response_factory_; }
  /// Drops the response factory, the model and the trace of a released request, and restores the
  /// inputs (RequestInputs::Restore). Keeps the Cancellation, because a front end may be cancelling
  /// on another thread.
  void Unbind();
  /// Makes a released request ready for another submission. Gives it a new Cancellation. Keeps
  /// inputs, outputs and fields.
  void PrepareForReuse();

  /// 0 for models without batching, else the first dimension of the inputs. Set by Normalize.
  uint32_t batch_size = 0;
  /// Whether a client can change the bytes of inputs or outputs while the request is in progress,
  /// because they are in shared memory. What is computed of them must not be given to others.
  bool has_shared_memory = false;
  /// Whether inputs or outputs are in GPU memory, so that the model's thread may have to wait for
  /// copies. A batch with such a request never runs on an event loop.
  bool has_gpu_memory = false;
  RequestTimes times;
  /// Collects the compute times of this request's executions; null if nobody needs them.
  std::shared_ptr<ComputeTimes> compute_times;

  /// Sets times.queue_ns, unless TraceSubmission has set it: statistics and trace then show the
  /// same time.
  void StampQueueStart(uint64_t now_ns) {
    if (trace_ == nullptr) times.queue_ns = now_ns;
  }
  /// Reports the start of a traced request (times.start_ns) and the start of its queue, and sets
  /// times.queue_ns. Must be called without a lock.
  void TraceSubmission(uint64_t now_ns);

  // ---- Set by the scheduler, for sequences ----

  /// Whether this is a padding request of a Direct batch, or a notice of a sequence's end. It has
  /// inputs of the right shapes, its responses are discarded, and it is not counted.
  bool is_null = false;
  /// The states of the request's sequence; null where the model has none. Only the backend may
  /// change them while the request is handed out.
  std::shared_ptr<SequenceStates> states;
  /// Identifies the sequence to the scheduler; 0: none.
  uint64_t sequence_handle = 0;
  /// Told when the backend releases the request; null: nobody. Must outlive the model's requests.
  ReleaseListener* release_listener = nullptr;

 private:
  RequestInputs inputs_;
  std::shared_ptr<ResponseSink> sink_;
  std::shared_ptr<Cancellation> cancellation_;
  std::shared_ptr<const ModelIdentity> model_;
  std::shared_ptr<ResponseFactory> response_factory_;
  std::shared_ptr<Trace> trace_;
  std::vector<memory::HostBuffer> held_buffers_;
  std::vector<std::shared_ptr<const void>> held_objects_;
};

/// Gives `step`, a request made by the server or a plug-in on behalf of `whole`, a child of the
/// trace of `whole`. Does nothing if `whole` is not traced. Must be called before `step` is
/// submitted.
void TraceStep(const InferenceRequest& whole, InferenceRequest& step);

}  // namespace nereid::request

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/name_index.h"
#include "base/result.h"
#include "memory/host_buffer.h"
#include "request/cancellation.h"
#include "request/compute_times.h"
#include "request/input.h"
#include "request/model_identity.h"
#include "request/parameter.h"
#include "request/release_listener.h"
#include "request/trace.h"

namespace nereid::request {

class ResponseFactory;
class ResponseSink;
class SequenceStates;

/// Identifies the sequence that a request belongs to; 0 and "" mean none.
using CorrelationId = std::variant<uint64_t, std::string>;

/// Returns the id as text; a number in decimal.
std::string CorrelationIdText(const CorrelationId& id);

/// The values of TRITONSERVER_REQUEST_FLAG_*.
inline constexpr uint32_t kFlagSequenceStart = 1;
inline constexpr uint32_t kFlagSequenceEnd = 2;

/// Monotonic times of a request's progress in nanoseconds; 0: not reached.
struct RequestTimes {
  uint64_t start_ns = 0;  // the front end passed it to the service
  uint64_t queue_ns = 0;  // it entered the scheduler
};

/// One inference request, from the front end that decodes it to the backend that releases it. A
/// request has exactly one owner at any time, and only the owner may access it. After submission
/// the front end keeps only the Cancellation. Not thread-safe.
class InferenceRequest {
 public:
  InferenceRequest();
  ~InferenceRequest();
  InferenceRequest(const InferenceRequest&) = delete;
  InferenceRequest& operator=(const InferenceRequest&) = delete;

  // ---- Set by a front end: what the client sent. ----

  std::string model_name;
  int64_t model_version = -1;  // -1: the version policy decides
  std::string id;
  CorrelationId correlation_id = uint64_t{0};
  uint32_t flags = 0;
  uint64_t priority = 0;              // 0: the model's default level
  uint64_t timeout_us = 0;            // longest time in the queue; 0: none
  uint64_t deadline_ns = 0;           // monotonic time at which the client stops waiting; 0: none
  std::vector<Parameter> parameters;  // in the order sent, with duplicates
  std::vector<std::string> requested_outputs;  // empty: all outputs of the model

  /// Adds an input without data. Returns INVALID_ARGUMENT if the name exists already. The pointer
  /// is valid until inputs are added or removed.
  base::Result<Input*> AddInput(std::string_view name, tensor::DataType type, tensor::Shape shape);

  /// Declares the request a raw binary request: one input whose name, type and shape follow from
  /// the model's configuration. `name` is used in messages only. The request must have no other
  /// input.
  base::Result<Input*> AddRawInput(std::string_view name);
  bool is_raw() const { return is_raw_; }

  Input* FindInput(std::string_view name);
  const Input* FindInput(std::string_view name) const;
  base::Status RemoveInput(std::string_view name);
  void RemoveAllInputs();
  std::vector<Input>& inputs() { return inputs_; }
  const std::vector<Input>& inputs() const { return inputs_; }
  /// Returns the sum of the byte sizes of all inputs.
  uint64_t InputByteSize() const {
    uint64_t size = 0;
    for (const Input& input : inputs_) size += input.ByteSize();
    return size;
  }

  /// Keeps memory that inputs refer to alive until the request is destroyed.
  void Hold(memory::HostBuffer buffer) { held_buffers_.push_back(std::move(buffer)); }
  void Hold(std::shared_ptr<const void> owner) { held_objects_.push_back(std::move(owner)); }

  /// Sets the destination of the responses. Must be called before submission.
  void SetSink(std::shared_ptr<ResponseSink> sink);
  const std::shared_ptr<ResponseSink>& sink() const { return sink_; }

  /// Returns the request's Cancellation; every request has one.
  const std::shared_ptr<Cancellation>& cancellation() const { return cancellation_; }

  /// Sets the trace of the request; null, as for most requests, records nothing. Must be called
  /// before submission. The trace returns to its listener when the request, its responses and the
  /// backend's references are gone, or when the submission fails.
  void SetTrace(std::shared_ptr<Trace> trace) { trace_ = std::move(trace); }
  Trace* trace() const { return trace_.get(); }
  const std::shared_ptr<Trace>& shared_trace() const { return trace_; }

  /// Returns "[request id: X] " or "[request id: <id_unknown>] ", the prefix of Triton's messages.
  std::string LogPrefix() const;

  // ---- Set by the server. ----

  /// See BindRequest, which calls this.
  void Bind(std::shared_ptr<const ModelIdentity> model, std::shared_ptr<ResponseFactory> factory);
  const std::shared_ptr<const ModelIdentity>& model() const { return model_; }
  const std::shared_ptr<ResponseFactory>& response_factory() const { return response_factory_; }

  /// 0 for models without batching, else the first dimension of the inputs. Set by Normalize.
  uint32_t batch_size = 0;
  RequestTimes times;
  /// Set by a front end whose thread may execute a cheap model itself; see schedule::InlinePolicy.
  bool may_run_inline = false;

  /// Collects the compute times of this request's executions; null if nobody needs them.
  std::shared_ptr<ComputeTimes> compute_times;

  /// Adds an input that the client did not send: a control or a state. It follows the client's
  /// inputs and is removed when the request is released. The pointer is valid until inputs are
  /// added or removed.
  Input* AddServerInput(std::string_view name, tensor::DataType type, tensor::Shape shape);
  /// Adds the values of `states`, which is not null, as such inputs. The bytes stay as they are
  /// until the states are committed or reset.
  void AddStateInputs();
  void RemoveServerInputs();
  /// Returns the inputs without those added by the server.
  std::span<const Input> client_inputs() const {
    return std::span(inputs_).first(inputs_.size() - server_inputs_);
  }

  // For sequences; set by the scheduler.

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

  /// Sets times.queue_ns, unless TraceSubmission has set it: statistics and trace then show the
  /// same time.
  void StampQueueStart(uint64_t now_ns) {
    if (trace_ == nullptr) times.queue_ns = now_ns;
  }
  /// Reports the start of a traced request (times.start_ns) and the start of its queue, and sets
  /// times.queue_ns. Must be called without a lock.
  void TraceSubmission(uint64_t now_ns);

  /// Returns whether the request was cancelled.
  bool IsCancelled() const { return cancellation_->IsCancelled(); }

  /// Drops the response factory, the model and the trace of a released request. Keeps the
  /// Cancellation, because a front end may be cancelling on another thread.
  void Unbind() {
    response_factory_.reset();
    model_.reset();
    trace_.reset();
  }

  /// Prepares a released request for another submission: unbinds it and gives it a new
  /// Cancellation. Keeps inputs, outputs and settings.
  void PrepareForReuse();

 private:
  friend base::Status ResolveRawInput(InferenceRequest&);
  std::vector<Input> inputs_;
  base::NameIndex input_names_;  // for AddInput
  size_t server_inputs_ = 0;     // the last inputs_ that the server added
  bool is_raw_ = false;
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

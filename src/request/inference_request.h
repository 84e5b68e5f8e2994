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

/// Names the sequence that a request belongs to; 0 and "" mean none.
using CorrelationId = std::variant<uint64_t, std::string>;

/// As people read it; a number in decimal.
std::string CorrelationIdText(const CorrelationId& id);

/// TRITONSERVER_REQUEST_FLAG_*.
inline constexpr uint32_t kFlagSequenceStart = 1;
inline constexpr uint32_t kFlagSequenceEnd = 2;

/// Monotonic nanoseconds at the stations of a request; 0 = not reached.
struct RequestTimes {
  uint64_t start_ns = 0;  // received by the core
  uint64_t queue_ns = 0;  // entered the scheduler
};

/// One inference request, from the front end that decodes it to the backend that releases it. It
/// moves: at any time exactly one party owns it, and only that party touches it. After submission
/// the front end keeps nothing but the Cancellation.
class InferenceRequest {
 public:
  InferenceRequest();
  ~InferenceRequest();
  InferenceRequest(const InferenceRequest&) = delete;
  InferenceRequest& operator=(const InferenceRequest&) = delete;

  // ---- What the client asks. Filled in by a front end. ----

  std::string model_name;
  int64_t model_version = -1;  // -1: the version policy decides
  std::string id;
  CorrelationId correlation_id = uint64_t{0};
  uint32_t flags = 0;
  uint64_t priority = 0;              // 0: the model's default level
  uint64_t timeout_us = 0;            // 0: none; microseconds in the queue
  uint64_t deadline_ns = 0;           // 0: none; the client stops waiting at this monotonic time
  std::vector<Parameter> parameters;  // in order, duplicates kept
  std::vector<std::string> requested_outputs;  // none: all that the model has

  /// Adds an input without data. INVALID_ARGUMENT if the name is there already. The pointer is
  /// valid until inputs are added or removed.
  base::Result<Input*> AddInput(std::string_view name, tensor::DataType type, tensor::Shape shape);

  /// Declares that the request is one nameless tensor whose name, type and shape follow from the
  /// model (the raw binary request). `name` is used only in messages. The request must have no
  /// other input.
  base::Result<Input*> AddRawInput(std::string_view name);
  bool is_raw() const { return is_raw_; }

  Input* FindInput(std::string_view name);
  const Input* FindInput(std::string_view name) const;
  base::Status RemoveInput(std::string_view name);
  void RemoveAllInputs();
  std::vector<Input>& inputs() { return inputs_; }
  const std::vector<Input>& inputs() const { return inputs_; }
  /// Bytes of all inputs.
  uint64_t InputByteSize() const {
    uint64_t size = 0;
    for (const Input& input : inputs_) size += input.ByteSize();
    return size;
  }

  /// Keeps memory that inputs refer to alive for as long as the request.
  void Hold(memory::HostBuffer buffer) { held_buffers_.push_back(std::move(buffer)); }
  void Hold(std::shared_ptr<const void> owner) { held_objects_.push_back(std::move(owner)); }

  /// Where the responses go. Must be set before submission.
  void SetSink(std::shared_ptr<ResponseSink> sink);
  const std::shared_ptr<ResponseSink>& sink() const { return sink_; }

  /// A fresh request has a Cancellation of its own.
  const std::shared_ptr<Cancellation>& cancellation() const { return cancellation_; }

  /// Records the request's way; null for most requests. Set before submission; it is given back
  /// when the request, its responses and the backend's references are all gone, and, at the latest,
  /// when the submission fails.
  void SetTrace(std::shared_ptr<Trace> trace) { trace_ = std::move(trace); }
  Trace* trace() const { return trace_.get(); }

  /// "[request id: X] ", or "[request id: <id_unknown>] ": the prefix of the core's messages.
  std::string LogPrefix() const;

  // ---- What the server adds. ----

  /// Binds the request to a loaded model and gives it a response factory. Called once per
  /// submission, by the service.
  void Bind(std::shared_ptr<const ModelIdentity> model);
  const std::shared_ptr<const ModelIdentity>& model() const { return model_; }
  const std::shared_ptr<ResponseFactory>& response_factory() const { return response_factory_; }

  /// 0 for models without batching, else the size of the first dimension. Set by Normalize.
  uint32_t batch_size = 0;
  RequestTimes times;
  /// Set by a front end whose thread may run a cheap model right away instead of handing over.
  bool may_run_inline = false;

  /// What executions for this request took is added here; null where nobody wants to know.
  std::shared_ptr<ComputeTimes> compute_times;

  /// Adds an input that the client did not send: a control or a state. It comes after the client's
  /// inputs and is gone when the request is released. The pointer is valid until the next one.
  Input* AddServerInput(std::string_view name, tensor::DataType type, tensor::Shape shape);
  void RemoveServerInputs();
  /// The inputs without those.
  std::span<const Input> client_inputs() const {
    return std::span(inputs_).first(inputs_.size() - server_inputs_);
  }

  // Sequences; set by the scheduler.

  /// Fills a place of a Direct batch whose sequence has no request: it has inputs of the right
  /// shapes, but nobody waits for its answer, and it is not counted.
  bool is_null = false;
  /// Of the request's sequence; null where the model keeps none. While the request is handed out it
  /// is the backend's to change.
  std::shared_ptr<SequenceStates> states;
  /// Names the sequence to the scheduler; 0 = none.
  uint64_t sequence_handle = 0;
  /// Who wants to know when the backend gives the request back; must outlive the model's requests.
  ReleaseListener* release_listener = nullptr;

  /// Stamps the beginning of the queue. A traced request has had its stamp from TraceSubmission:
  /// statistics and trace give the same time.
  void StampQueueStart(uint64_t now_ns) {
    if (trace_ == nullptr) times.queue_ns = now_ns;
  }
  /// For a traced request, when its model takes it: reports its start (times.start_ns) and that its
  /// queue begins, which is stamped. No lock may be held.
  void TraceSubmission(uint64_t now_ns);

  /// Whether nobody waits for the answer any more: cancelled.
  bool IsCancelled() const { return cancellation_->IsCancelled(); }

  /// Lets go of the response factory, the model and the trace: the request has been released. The
  /// Cancellation stays: a front end may be cancelling on another thread.
  void Unbind() {
    response_factory_.reset();
    model_.reset();
    trace_.reset();
  }

  /// Makes a released request submittable again: unbinds it, and gives it a new Cancellation.
  /// Inputs, outputs and settings stay.
  void PrepareForReuse();

 private:
  friend base::Status ResolveRawInput(InferenceRequest&);
  std::vector<Input> inputs_;
  base::NameIndex input_names_;  // for AddInput
  size_t server_inputs_ = 0;     // how many of them, at the end, the server added
  bool is_raw_ = false;
  std::shared_ptr<ResponseSink> sink_;
  std::shared_ptr<Cancellation> cancellation_;
  std::shared_ptr<const ModelIdentity> model_;
  std::shared_ptr<ResponseFactory> response_factory_;
  std::shared_ptr<Trace> trace_;
  std::vector<memory::HostBuffer> held_buffers_;
  std::vector<std::shared_ptr<const void>> held_objects_;
};

}  // namespace nereid::request

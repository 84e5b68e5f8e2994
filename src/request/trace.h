// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "memory/memory_type.h"
#include "tensor/data_type.h"
#include "tensor/shape.h"

namespace nereid::request {

class InferenceRequest;
class InferenceResponse;
class Trace;
struct ModelIdentity;

/// What happens to a traced request. The values are those of TRITONSERVER_TRACE_*.
enum class TraceActivity {
  kRequestStart = 0,
  kQueueStart = 1,
  kComputeStart = 2,
  kComputeInputEnd = 3,
  kComputeOutputStart = 4,
  kComputeEnd = 5,
  kRequestEnd = 6,
  kTensorQueueInput = 7,
  kTensorBackendInput = 8,  // reserved: nobody reports it, as in Triton
  kTensorBackendOutput = 9,
  kCustom = 10,
};

// The bits of a trace's level, those of TRITONSERVER_TRACE_LEVEL_*.
inline constexpr uint32_t kTraceMin = 1;  // once a level; means time stamps
inline constexpr uint32_t kTraceMax = 2;  // the same
inline constexpr uint32_t kTraceTimestamps = 4;
inline constexpr uint32_t kTraceTensors = 8;

/// A tensor of a traced request, lent for the call.
struct TracedTensor {
  const char* name;
  tensor::DataType type;
  const char* data;
  size_t size;
  const tensor::Shape& shape;
  memory::MemoryType memory_type;
  int64_t memory_type_id;
};

/// Who wants to know: of one trace and of the children it has. Called on whichever thread does the
/// work, for one trace one call at a time (as far as plug-ins keep to that); no lock is held.
class TraceListener {
 public:
  virtual ~TraceListener() = default;
  /// `time_ns` is monotonic.
  virtual void OnActivity(Trace& trace, TraceActivity activity, uint64_t time_ns) noexcept = 0;
  /// An activity that a plug-in or the scheduler names itself.
  virtual void OnCustomActivity(Trace& trace, std::string_view name, uint64_t time_ns) noexcept = 0;
  virtual void OnTensor(Trace& trace, TraceActivity activity,
                        const TracedTensor& tensor) noexcept = 0;
  /// A response, or the final flag alone, goes to the request's sink.
  virtual void OnResponse(Trace& /*trace*/, uint64_t /*time_ns*/) noexcept {}
  /// The server is done with the trace, which now belongs to the listener. Called once.
  virtual void OnReleased(std::unique_ptr<Trace> trace) noexcept = 0;
};

/// The record of one request's way through the server. A request without one costs a null check at
/// each station.
class Trace {
 public:
  /// `level`: bits kTrace*; `parent_id`: 0 = none.
  Trace(std::shared_ptr<TraceListener> listener, uint32_t level, uint64_t parent_id);
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// From 1, unique in the process.
  uint64_t id() const { return id_; }
  uint64_t parent_id() const { return parent_id_; }
  const std::string& model_name() const { return model_name_; }
  int64_t model_version() const { return model_version_; }
  const std::string& request_id() const { return request_id_; }
  /// What the request turned out to be. Before that: no name, version -1, no id.
  void Describe(const ModelIdentity& model, const std::string& request_id);

  /// A trace of the same listener and level with this one as its parent.
  std::unique_ptr<Trace> SpawnChild() const;

  bool wants_timestamps() const { return (level_ & kTraceTimestamps) != 0; }
  bool wants_tensors() const { return (level_ & kTraceTensors) != 0; }
  void Report(TraceActivity activity, uint64_t time_ns);
  /// Also notes the name in the context, under the time as its key.
  void ReportCustom(std::string_view name, uint64_t time_ns);
  void ReportInputs(TraceActivity activity, const InferenceRequest& request);
  void ReportOutputs(const InferenceResponse& response);

  /// Free text that goes along with the request; a JSON object in practice. Not inherited.
  const std::string& context() const { return context_; }
  void SetContext(std::string text);

  TraceListener& listener() { return *listener_; }

 private:
  friend std::shared_ptr<Trace> ShareTrace(std::unique_ptr<Trace> trace);

  const std::shared_ptr<TraceListener> listener_;
  const uint32_t level_;
  const uint64_t id_;
  const uint64_t parent_id_;
  std::string model_name_;
  int64_t model_version_ = -1;
  std::string request_id_;
  std::string context_;
  std::string given_context_;                                   // as it was set
  std::vector<std::pair<uint64_t, std::string>> custom_names_;  // by time, as first reported
};

/// Gives the trace to the server: when the last share goes, the listener gets it back.
std::shared_ptr<Trace> ShareTrace(std::unique_ptr<Trace> trace);

/// Gives `step`, a request that the server or a plug-in makes on behalf of `whole` (a step of an
/// ensemble), a child of its trace. Nothing happens if `whole` is not traced. Call it before `step`
/// is submitted.
void TraceStep(const InferenceRequest& whole, InferenceRequest& step);

}  // namespace nereid::request

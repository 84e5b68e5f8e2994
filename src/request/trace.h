// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "memory/memory_type.h"
#include "request/input.h"
#include "request/model_identity.h"
#include "request/output.h"
#include "tensor/data_type.h"
#include "tensor/shape.h"

namespace nereid::request {

class Trace;

/// The activities of a traced request. The values are those of TRITONSERVER_TRACE_*.
enum class TraceActivity {
  kRequestStart = 0,
  kQueueStart = 1,
  kComputeStart = 2,
  kComputeInputEnd = 3,
  kComputeOutputStart = 4,
  kComputeEnd = 5,
  kRequestEnd = 6,
  kTensorQueueInput = 7,
  kTensorBackendInput = 8,  // reserved: never reported, as in Triton
  kTensorBackendOutput = 9,
  kCustom = 10,
};

// The bits of a trace's level, equal to TRITONSERVER_TRACE_LEVEL_*.
inline constexpr uint32_t kTraceMin = 1;  // deprecated level, means timestamps
inline constexpr uint32_t kTraceMax = 2;  // deprecated level, means timestamps
inline constexpr uint32_t kTraceTimestamps = 4;
inline constexpr uint32_t kTraceTensors = 8;

/// A tensor of a traced request. Valid only during the call.
struct TracedTensor {
  const char* name;
  tensor::DataType type;
  const char* data;
  size_t size;
  const tensor::Shape& shape;
  memory::MemoryType memory_type;
  int64_t memory_type_id;
};

/// Receives the activities of a trace and of its children. Called on the thread that does the work,
/// without a lock, for one trace one call at a time (if plug-ins keep the rules).
class TraceListener {
 public:
  virtual ~TraceListener() = default;
  /// Receives an activity. `time_ns` is monotonic.
  virtual void OnActivity(Trace& trace, TraceActivity activity, uint64_t time_ns) noexcept = 0;
  /// Receives an activity named by a plug-in or the scheduler.
  virtual void OnCustomActivity(Trace& trace, std::string_view name, uint64_t time_ns) noexcept = 0;
  /// Receives a tensor of the request or of a response.
  virtual void OnTensor(Trace& trace, TraceActivity activity,
                        const TracedTensor& tensor) noexcept = 0;
  /// Called when a response, or the final flag alone, goes to the request's sink.
  virtual void OnResponse(Trace& /*trace*/, uint64_t /*time_ns*/) noexcept {}
  /// Returns the id by which other systems know the trace: 32 hexadecimal digits in W3C's form.
  /// Returns an empty text if they do not know it.
  virtual std::string GlobalTraceId() const { return {}; }
  /// Returns the trace to the listener, which owns it from here on. Called once, last.
  virtual void OnReleased(std::unique_ptr<Trace> trace) noexcept = 0;
};

/// The record of one request's way through the server, for one listener. A request without a trace
/// costs a null check at each activity. Used by one thread at a time: the one that has the request
/// or sends its response.
class Trace {
 public:
  /// `level` consists of kTrace* bits; `parent_id` 0: no parent.
  Trace(std::shared_ptr<TraceListener> listener, uint32_t level, uint64_t parent_id);
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// Returns the trace's id: 1 or more, unique in the process.
  uint64_t id() const { return id_; }
  uint64_t parent_id() const { return parent_id_; }
  const std::string& model_name() const { return model_name_; }
  int64_t model_version() const { return model_version_; }
  const std::string& request_id() const { return request_id_; }
  /// Sets the request's model and id. Before that the trace has an empty name, version -1 and no
  /// id.
  void Describe(const ModelIdentity& model, const std::string& request_id);

  /// Creates a trace with the same listener and level and with this trace as its parent.
  std::unique_ptr<Trace> SpawnChild() const;

  bool wants_timestamps() const { return (level_ & kTraceTimestamps) != 0; }
  bool wants_tensors() const { return (level_ & kTraceTensors) != 0; }
  /// Passes an activity to the listener, if the level asks for timestamps.
  void Report(TraceActivity activity, uint64_t time_ns);
  /// Adds the name to the context, keyed by its time, and passes it to the listener, if the level
  /// asks for timestamps.
  void ReportCustom(std::string_view name, uint64_t time_ns);
  /// Passes a request's inputs to the listener, if the level asks for tensors. An input of several
  /// pieces, one of them in GPU memory, is left out.
  void ReportInputs(TraceActivity activity, std::span<const Input> inputs);
  /// Passes the outputs of a response without an error to the listener, if the level asks for
  /// tensors.
  void ReportOutputs(const std::vector<std::unique_ptr<Output>>& outputs);

  /// Returns the free text that accompanies the request; in practice a JSON object. Children do not
  /// inherit it.
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
  std::string given_context_;  // as set by SetContext
  // By time, in order of the first report.
  std::vector<std::pair<uint64_t, std::string>> custom_names_;
};

/// Passes the trace to the server. The listener gets it back (OnReleased) when the last reference
/// is dropped.
std::shared_ptr<Trace> ShareTrace(std::unique_ptr<Trace> trace);

}  // namespace nereid::request

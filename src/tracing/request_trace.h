// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>

#include "request/trace.h"
#include "tracing/trace_sampling.h"

namespace nereid::tracing {

/// The record of one request from the front end and back, with the steps that it led to. Kept by
/// the front end until its answer is sent, and by the engine while it works; when the last one lets
/// go, the record goes to its sampling. Thread-safe.
///
/// The format is Triton's: a list of objects, each with the trace's "id", which say one thing each:
/// {"model_name","model_version","request_id","parent_id"}, {"timestamps":[{"name","ns"}]}, or
/// {"activity","tensor":{"name","data","shape","dtype"}}.
class RequestTrace final : public request::TraceListener {
 public:
  explicit RequestTrace(std::shared_ptr<TraceSampling> sampling) : sampling_(std::move(sampling)) {}
  ~RequestTrace() override;

  /// What the front end says of its own part: "HTTP_RECV_START", … `time_ns` is monotonic.
  void Stamp(std::string_view name, uint64_t time_ns) noexcept;

  // TraceListener
  void OnActivity(request::Trace& trace, request::TraceActivity activity,
                  uint64_t time_ns) noexcept override;
  void OnCustomActivity(request::Trace& trace, std::string_view name,
                        uint64_t time_ns) noexcept override;
  void OnTensor(request::Trace& trace, request::TraceActivity activity,
                const request::TracedTensor& tensor) noexcept override;
  void OnResponse(request::Trace& trace, uint64_t time_ns) noexcept override;
  void OnReleased(std::unique_ptr<request::Trace> trace) noexcept override;

 private:
  friend class RequestTracer;

  void AddStamp(uint64_t id, std::string_view name, uint64_t time_ns);
  void AddHead(const request::Trace& trace);
  template <typename Add>
  void Locked(Add&& add) noexcept;

  const std::shared_ptr<TraceSampling> sampling_;
  uint64_t root_ = 0;  // the id of the request's own trace; set before anybody else knows this
  std::mutex mutex_;
  std::string entries_;                    // guarded by mutex_
  std::unordered_set<uint64_t> has_head_;  // guarded by mutex_
};

}  // namespace nereid::tracing

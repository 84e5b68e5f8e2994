// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/mutex.h"
#include "request/trace.h"
#include "tracing/trace_sampling.h"

namespace nereid::tracing {

/// The record of one request, from the front end and back, including the steps of ensembles. The
/// front end keeps it until the response is sent, the engine while it works on the request; the
/// destructor passes the record to its TraceSampling. Thread-safe.
///
/// The format is Triton's: a list of objects, each with the trace's "id" and one of these contents:
/// {"model_name","model_version","request_id","parent_id"}, {"timestamps":[{"name","ns"}]}, or
/// {"activity","tensor":{"name","data","shape","dtype"}}.
class RequestTrace final : public request::TraceListener {
 public:
  explicit RequestTrace(std::shared_ptr<TraceSampling> sampling) : sampling_(std::move(sampling)) {}
  ~RequestTrace() override;

  /// Records an activity of the front end, "HTTP_RECV_START" for example. `time_ns` is monotonic.
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

  void AddStamp(uint64_t id, std::string_view name, uint64_t time_ns) NEREID_REQUIRES(mutex_);
  void AddHead(const request::Trace& trace) NEREID_REQUIRES(mutex_);
  template <typename Add>
  void Locked(Add&& add) noexcept;

  const std::shared_ptr<TraceSampling> sampling_;
  // The id of the request's own trace; constant once other threads use this object.
  uint64_t root_ = 0;
  base::Mutex mutex_;
  std::string entries_ NEREID_GUARDED_BY(mutex_);
  std::unordered_set<uint64_t> has_head_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::tracing

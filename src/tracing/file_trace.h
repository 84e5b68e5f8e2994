// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/mutex.h"
#include "tracing/request_trace.h"
#include "tracing/trace_sampling.h"

namespace nereid::tracing {

/// The record of one request for the trace files. The destructor passes it to its TraceSampling.
///
/// The format is Triton's: a list of objects, each with the trace's "id" and one of these contents:
/// {"model_name","model_version","request_id","parent_id"}, {"timestamps":[{"name","ns"}]}, or
/// {"activity","tensor":{"name","data","shape","dtype"}}.
class FileTrace final : public RequestTrace {
 public:
  explicit FileTrace(std::shared_ptr<TraceSampling> sampling) : sampling_(std::move(sampling)) {}
  ~FileTrace() override;

  // RequestTrace
  void Stamp(std::string_view name, uint64_t time_ns) noexcept override;
  void OnActivity(request::Trace& trace, request::TraceActivity activity,
                  uint64_t time_ns) noexcept override;
  void OnCustomActivity(request::Trace& trace, std::string_view name,
                        uint64_t time_ns) noexcept override;
  void OnTensor(request::Trace& trace, request::TraceActivity activity,
                const request::TracedTensor& tensor) noexcept override;
  void OnResponse(request::Trace& trace, uint64_t time_ns) noexcept override;
  void OnReleased(std::unique_ptr<request::Trace> trace) noexcept override;

 private:
  void AddStamp(uint64_t id, std::string_view name, uint64_t time_ns) NEREID_REQUIRES(mutex_);
  void AddHead(const request::Trace& trace) NEREID_REQUIRES(mutex_);
  template <typename Add>
  void Locked(Add&& add) noexcept;

  const std::shared_ptr<TraceSampling> sampling_;
  base::Mutex mutex_;
  std::string entries_ NEREID_GUARDED_BY(mutex_);
  std::unordered_set<uint64_t> has_head_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::tracing

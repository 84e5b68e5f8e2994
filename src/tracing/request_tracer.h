// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/trace_settings.h"
#include "base/mutex.h"
#include "base/result.h"
#include "request/inference_request.h"
#include "tracing/request_trace.h"
#include "tracing/span.h"
#include "tracing/trace_context.h"
#include "tracing/trace_file.h"
#include "tracing/trace_sampling.h"

namespace nereid::tracing {

/// The trace settings of a server and of its models, and the selection of requests by them.
/// Thread-safe.
///
/// A model follows the server's settings, also when these change, until a field is set for the
/// model. That field is then the model's own until it is cleared; its other fields follow the
/// server's. A model with a field of its own counts its requests and traces separately; all others
/// are counted together.
class RequestTracer final : public api::TraceControl {
 public:
  /// `initial` are the settings of the command line, which cleared settings of the server return
  /// to. They are not checked: without a file, for example, nothing is traced. `spans` takes the
  /// traces in mode opentelemetry, and is null in mode triton.
  explicit RequestTracer(api::TraceSettings initial, std::shared_ptr<SpanSink> spans = nullptr);

  /// Returns whether some request may have to be traced.
  bool active() const { return active_.load(std::memory_order_relaxed); }
  /// Returns whether Start() uses trace headers: mode opentelemetry.
  bool reads_headers() const { return spans_ != nullptr; }

  api::TraceSettings Settings(const std::string& model) const override;
  base::Result<api::TraceSettings> Change(const std::string& model,
                                          const api::TraceChanges& changes) override;

  /// Gives a request a trace and returns its record, if the request is selected; else returns null.
  /// Must be called before submission, with the request's model set. The caller keeps the record
  /// until the response is sent. `headers` are those of the client, or null: a request that belongs
  /// to a trace of its client is always selected in mode opentelemetry.
  std::shared_ptr<RequestTrace> Start(request::InferenceRequest& request,
                                      const TraceHeaders* headers = nullptr);

 private:
  // The fields that are set at this level (model or server) and not at a wider one.
  struct Own {
    std::optional<uint32_t> level;
    std::optional<uint32_t> rate;
    std::optional<int32_t> count;
    std::optional<uint32_t> log_frequency;

    bool empty() const { return !level && !rate && !count && !log_frequency; }
    void Apply(const api::TraceChanges& changes);
    /// Returns these fields, completed from `wider`.
    api::TraceSettings CompletedFrom(api::TraceSettings wider) const;
  };
  struct OfModel {
    Own own;
    std::shared_ptr<TraceSampling> sampling;
  };

  using Sampling = std::shared_ptr<TraceSampling>;
  // Destroyed without the lock, because destruction writes files.
  using Replaced = std::vector<Sampling>;

  base::Result<api::TraceSettings> ChangeServer(const api::TraceChanges& changes,
                                                Replaced* replaced) NEREID_REQUIRES(mutex_);
  base::Result<api::TraceSettings> ChangeModel(const std::string& model,
                                               const api::TraceChanges& changes, Replaced* replaced)
      NEREID_REQUIRES(mutex_);
  void ReplaceIfChanged(api::TraceSettings settings, Sampling* place, Replaced* replaced) const
      NEREID_REQUIRES(mutex_);
  void UpdateActive() NEREID_REQUIRES(mutex_);

  const api::TraceSettings initial_;
  const std::shared_ptr<TraceFile> file_;  // null without a file, and in mode opentelemetry
  const std::shared_ptr<SpanSink> spans_;  // null in mode triton
  std::atomic<bool> active_{false};
  mutable base::Mutex mutex_;
  Own own_ NEREID_GUARDED_BY(mutex_);  // the server's
  Sampling server_ NEREID_GUARDED_BY(mutex_);
  // The models with a field of their own.
  std::map<std::string, OfModel> models_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::tracing

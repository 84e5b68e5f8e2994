// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/trace_settings.h"
#include "base/result.h"
#include "request/inference_request.h"
#include "tracing/request_trace.h"
#include "tracing/trace_file.h"
#include "tracing/trace_sampling.h"

namespace nereid::tracing {

/// The trace settings of a server and of its models, and what they choose. Thread-safe.
///
/// A model has the server's settings, also when these change, until a field is set for it; that
/// field is then its own until it is cleared, the others go on following the server's. A model with
/// a field of its own counts its requests and its traces by itself; all others count together.
class RequestTracer {
 public:
  /// `initial`: of the command line, which the server's settings go back to when they are cleared.
  /// Whether they make sense is not checked: without a file nothing is traced.
  explicit RequestTracer(api::TraceSettings initial);

  /// Whether some request may have to be traced.
  bool active() const { return active_.load(std::memory_order_relaxed); }

  /// Of a model, or, the name being empty, of the server.
  api::TraceSettings Settings(const std::string& model) const;

  /// Changes them and returns what they are then. INVALID_ARGUMENT if no trace could be made with
  /// the result although a level is on; nothing has changed then.
  base::Result<api::TraceSettings> Change(const std::string& model,
                                          const api::TraceChanges& changes);

  /// Before the submission of a request whose model is set: gives it a trace, and returns the
  /// record, if it is one of those to be traced. Null for all others. The record is kept until the
  /// answer is sent.
  std::shared_ptr<RequestTrace> Start(request::InferenceRequest& request);

 private:
  // What is set here and not further out.
  struct Own {
    std::optional<uint32_t> level;
    std::optional<uint32_t> rate;
    std::optional<int32_t> count;
    std::optional<uint32_t> log_frequency;

    bool empty() const { return !level && !rate && !count && !log_frequency; }
    void Take(const api::TraceChanges& changes);
    /// With the rest from `wider`.
    api::TraceSettings Over(api::TraceSettings wider) const;
  };
  struct OfModel {
    Own own;
    std::shared_ptr<TraceSampling> sampling;
  };

  using Sampling = std::shared_ptr<TraceSampling>;
  using Replaced = std::vector<Sampling>;  // goes when no lock is held, since then it is written

  // All with mutex_ held.
  base::Result<api::TraceSettings> ChangeServer(const api::TraceChanges& changes,
                                                Replaced* replaced);
  base::Result<api::TraceSettings> ChangeModel(const std::string& model,
                                               const api::TraceChanges& changes,
                                               Replaced* replaced);
  void Put(api::TraceSettings settings, Sampling* place, Replaced* replaced) const;
  void NoteActivity();

  const api::TraceSettings initial_;
  const std::shared_ptr<TraceFile> file_;  // null where there is none
  std::atomic<bool> active_{false};
  mutable std::mutex mutex_;
  Own own_;                                // guarded by mutex_; the server's
  Sampling server_;                        // guarded by mutex_
  std::map<std::string, OfModel> models_;  // guarded by mutex_; those with a field of their own
};

}  // namespace nereid::tracing

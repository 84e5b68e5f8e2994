// SPDX-License-Identifier: Apache-2.0
#include "tracing/request_tracer.h"

#include <utility>

#include "tracing/file_trace.h"
#include "tracing/span_trace.h"
#include "tracing/unix_offset.h"

namespace nereid::tracing {
namespace {

using api::TraceChanges;
using api::TraceSettings;
using base::Status;

template <typename Value>
void ApplyField(const std::optional<std::optional<Value>>& change, std::optional<Value>* own) {
  if (change) *own = *change;
}

std::shared_ptr<TraceFile> FileOf(const TraceSettings& settings) {
  if (settings.mode != api::TraceMode::kTriton || settings.file.empty()) return nullptr;
  return std::make_shared<TraceFile>(settings.file);
}

Status Check(const TraceSettings& settings) {
  const std::string_view defect = api::TraceDefect(settings);
  if (defect.empty()) return {};
  return Status::InvalidArgument("Attempting to set invalid trace setting :" + std::string(defect));
}

}  // namespace

void RequestTracer::Own::Apply(const TraceChanges& changes) {
  ApplyField(changes.level, &level);
  ApplyField(changes.rate, &rate);
  ApplyField(changes.count, &count);
  ApplyField(changes.log_frequency, &log_frequency);
}

TraceSettings RequestTracer::Own::CompletedFrom(TraceSettings wider) const {
  wider.level = level.value_or(wider.level);
  wider.rate = rate.value_or(wider.rate);
  wider.count = count.value_or(wider.count);
  wider.log_frequency = log_frequency.value_or(wider.log_frequency);
  return wider;
}

RequestTracer::RequestTracer(TraceSettings initial, std::shared_ptr<SpanSink> spans)
    : initial_(std::move(initial)),
      file_(FileOf(initial_)),
      spans_(std::move(spans)),
      server_(std::make_shared<TraceSampling>(initial_, file_)) {
  UpdateActive();
}

TraceSettings RequestTracer::Settings(const std::string& model) const {
  const base::MutexLock lock(mutex_);
  const auto found = models_.find(model);
  return (found == models_.end() ? server_ : found->second.sampling)->settings();
}

base::Result<TraceSettings> RequestTracer::Change(const std::string& model,
                                                  const TraceChanges& changes) {
  // Declared before the lock, so destroyed after it is released.
  Replaced replaced;
  const base::MutexLock lock(mutex_);
  auto settings =
      model.empty() ? ChangeServer(changes, &replaced) : ChangeModel(model, changes, &replaced);
  UpdateActive();
  return settings;
}

// Unchanged settings keep their sampling, and with it their counts. The caller destroys `replaced`
// after it has released the lock, because the destruction of a sampling writes its traces.
void RequestTracer::ReplaceIfChanged(TraceSettings settings, Sampling* place,
                                     Replaced* replaced) const {
  if (*place != nullptr && (*place)->settings() == settings) return;
  replaced->push_back(
      std::exchange(*place, std::make_shared<TraceSampling>(std::move(settings), file_)));
}

base::Result<TraceSettings> RequestTracer::ChangeServer(const TraceChanges& changes,
                                                        Replaced* replaced) {
  Own own = own_;
  own.Apply(changes);
  TraceSettings settings = own.CompletedFrom(initial_);
  // A change without a count keeps the number of remaining traces.
  if (!changes.count) settings.count = server_->settings().count;
  NEREID_RETURN_IF_ERROR(Check(settings));
  own_ = own;
  ReplaceIfChanged(std::move(settings), &server_, replaced);
  // The models follow in the fields that they have not set. They are not checked: a model that is
  // left with rate 0 is not traced.
  for (auto& [name, model] : models_) {
    TraceSettings followed = model.own.CompletedFrom(server_->settings());
    // A new count of the server replaces the remaining count of the models that follow it.
    const bool keeps_count = model.own.count || !changes.count;
    if (keeps_count) followed.count = model.sampling->settings().count;
    ReplaceIfChanged(std::move(followed), &model.sampling, replaced);
  }
  return server_->settings();
}

base::Result<TraceSettings> RequestTracer::ChangeModel(const std::string& model,
                                                       const TraceChanges& changes,
                                                       Replaced* replaced) {
  const auto found = models_.find(model);
  OfModel changed = found == models_.end() ? OfModel() : found->second;
  changed.own.Apply(changes);
  if (changed.own.empty()) {
    if (found != models_.end()) {
      replaced->push_back(std::move(found->second.sampling));
      models_.erase(found);
    }
    return server_->settings();
  }
  TraceSettings settings = changed.own.CompletedFrom(server_->settings());
  // A change without a count keeps the number of remaining traces.
  if (changed.sampling != nullptr && !changes.count) {
    settings.count = changed.sampling->settings().count;
  }
  NEREID_RETURN_IF_ERROR(Check(settings));
  ReplaceIfChanged(std::move(settings), &changed.sampling, replaced);
  TraceSettings now = changed.sampling->settings();
  models_[model] = std::move(changed);
  return now;
}

void RequestTracer::UpdateActive() {
  bool active = server_->MayTrace();
  for (const auto& [name, model] : models_) active = active || model.sampling->MayTrace();
  active_.store(active, std::memory_order_relaxed);
}

std::shared_ptr<RequestTrace> RequestTracer::Start(request::InferenceRequest& request,
                                                   const TraceHeaders* headers) {
  // The only cost of a request while nothing is traced. The flag is relaxed: a request that starts
  // during a change of the settings may follow the old ones.
  if (!active_.load(std::memory_order_relaxed)) return nullptr;
  Sampling sampling;
  {
    const base::MutexLock lock(mutex_);
    const auto found = models_.find(request.model_name);
    sampling = found == models_.end() ? server_ : found->second.sampling;
  }
  std::optional<SpanContext> parent;
  if (spans_ != nullptr && headers != nullptr) parent = ParseTraceContext(*headers);
  if (!sampling->Choose(parent.has_value())) return nullptr;
  uint32_t level = sampling->level();
  std::shared_ptr<RequestTrace> record;
  if (spans_ != nullptr) {
    level &= ~request::kTraceTensors;  // spans have no place for tensors, here and in Triton
    record = std::make_shared<SpanTrace>(
        SpanTrace::Settings{.sink = spans_,
                            .parent = std::move(parent),
                            .timestamps = (level & request::kTraceTimestamps) != 0,
                            .unix_offset_ns = UnixOffsetNs()});
  } else {
    record = std::make_shared<FileTrace>(std::move(sampling));
  }
  auto trace = std::make_unique<request::Trace>(record, level, /*parent_id=*/0);
  record->SetRoot(trace->id());
  request.SetTrace(request::ShareTrace(std::move(trace)));
  return record;
}

}  // namespace nereid::tracing

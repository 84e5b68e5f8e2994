// SPDX-License-Identifier: Apache-2.0
#include "tracing/file_trace.h"

#include <exception>
#include <utility>

#include "base/log.h"
#include "tensor/data_type.h"
#include "tracing/quoted_text.h"
#include "tracing/tensor_text.h"

namespace nereid::tracing {
namespace {

using request::Trace;
using request::TraceActivity;

// The maximum size of one record. A request may have any number of responses; entries beyond this
// size are dropped.
constexpr size_t kMaxRecordBytes = size_t{64} << 20;

}  // namespace

FileTrace::~FileTrace() {
  try {
    sampling_->Collect(std::move(entries_));
  } catch (const std::exception& failure) {
    LOG_ERROR << "a trace is lost: " << failure.what();
  }
}

// Runs `add` with the lock held. If memory runs out, the trace lacks the entry: the callers are
// plug-ins and front ends, which could not handle an exception. A part of an entry that was already
// added is removed, because it would make the JSON invalid.
template <typename Add>
void FileTrace::Locked(Add&& add) noexcept {
  try {
    const base::MutexLock lock(mutex_);
    const size_t before = entries_.size();
    if (before > kMaxRecordBytes) return;
    try {
      add();
    } catch (...) {
      entries_.resize(before);
      throw;
    }
  } catch (const std::exception& failure) {
    LOG_ERROR << "an entry of a trace is lost: " << failure.what();
  }
}

void FileTrace::AddStamp(uint64_t id, std::string_view name, uint64_t time_ns) {
  if (!entries_.empty()) entries_ += ',';
  entries_ += "{\"id\":" + std::to_string(id) + ",\"timestamps\":[{\"name\":" + QuotedText(name) +
              ",\"ns\":" + std::to_string(time_ns) + "}]}";
}

// Written before the first entry of a trace that comes from the engine.
void FileTrace::AddHead(const Trace& trace) {
  if (!has_head_.insert(trace.id()).second) return;
  if (!entries_.empty()) entries_ += ',';
  entries_ += "{\"id\":" + std::to_string(trace.id()) +
              ",\"model_name\":" + QuotedText(trace.model_name()) +
              ",\"model_version\":" + std::to_string(trace.model_version());
  if (!trace.request_id().empty()) {
    entries_ += ",\"request_id\":" + QuotedText(trace.request_id());
  }
  if (trace.parent_id() != 0) entries_ += ",\"parent_id\":" + std::to_string(trace.parent_id());
  entries_ += '}';
}

void FileTrace::Stamp(std::string_view name, uint64_t time_ns) noexcept {
  if ((sampling_->level() & request::kTraceTimestamps) == 0) return;
  Locked([&]() NEREID_REQUIRES(mutex_) { AddStamp(root(), name, time_ns); });
}

void FileTrace::OnActivity(Trace& trace, TraceActivity activity, uint64_t time_ns) noexcept {
  OnCustomActivity(trace, ActivityName(activity), time_ns);
}

void FileTrace::OnCustomActivity(Trace& trace, std::string_view name, uint64_t time_ns) noexcept {
  Locked([&]() NEREID_REQUIRES(mutex_) {
    AddHead(trace);
    AddStamp(trace.id(), name, time_ns);
  });
}

void FileTrace::OnTensor(Trace& trace, TraceActivity activity,
                         const request::TracedTensor& tensor) noexcept {
  Locked([&]() NEREID_REQUIRES(mutex_) {
    AddHead(trace);
    entries_ += ",{\"id\":" + std::to_string(trace.id()) + ",\"activity\":\"";
    entries_ += ActivityName(activity);
    entries_ += "\",\"tensor\":{\"name\":" + QuotedText(tensor.name) +
                ",\"data\":" + QuotedText(TensorText(tensor)) + ",\"shape\":\"" +
                DimensionsText(tensor.shape) + "\",\"dtype\":\"";
    entries_ += tensor::DataTypeName(tensor.type);
    entries_ += "\"}}";
  });
}

void FileTrace::OnResponse(Trace& trace, uint64_t time_ns) noexcept {
  if (trace.id() == root()) Stamp("INFER_RESPONSE_COMPLETE", time_ns);
}

void FileTrace::OnReleased(std::unique_ptr<Trace> /*trace*/) noexcept {}

}  // namespace nereid::tracing

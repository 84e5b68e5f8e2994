// SPDX-License-Identifier: Apache-2.0
#include "tracing/request_trace.h"

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

std::string_view NameOf(TraceActivity activity) {
  switch (activity) {
    case TraceActivity::kRequestStart:
      return "REQUEST_START";
    case TraceActivity::kQueueStart:
      return "QUEUE_START";
    case TraceActivity::kComputeStart:
      return "COMPUTE_START";
    case TraceActivity::kComputeInputEnd:
      return "COMPUTE_INPUT_END";
    case TraceActivity::kComputeOutputStart:
      return "COMPUTE_OUTPUT_START";
    case TraceActivity::kComputeEnd:
      return "COMPUTE_END";
    case TraceActivity::kRequestEnd:
      return "REQUEST_END";
    case TraceActivity::kTensorQueueInput:
      return "TENSOR_QUEUE_INPUT";
    case TraceActivity::kTensorBackendInput:
      return "TENSOR_BACKEND_INPUT";
    case TraceActivity::kTensorBackendOutput:
      return "TENSOR_BACKEND_OUTPUT";
    case TraceActivity::kCustom:
      break;
  }
  return "CUSTOM_ACTIVITY";
}

// The maximum size of one record. A request may have any number of responses; entries beyond this
// size are dropped.
constexpr size_t kMaxRecordBytes = size_t{64} << 20;

}  // namespace

RequestTrace::~RequestTrace() {
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
void RequestTrace::Locked(Add&& add) noexcept {
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

void RequestTrace::AddStamp(uint64_t id, std::string_view name, uint64_t time_ns) {
  if (!entries_.empty()) entries_ += ',';
  entries_ += "{\"id\":" + std::to_string(id) + ",\"timestamps\":[{\"name\":" + QuotedText(name) +
              ",\"ns\":" + std::to_string(time_ns) + "}]}";
}

// Written before the first entry of a trace that comes from the engine.
void RequestTrace::AddHead(const Trace& trace) {
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

void RequestTrace::Stamp(std::string_view name, uint64_t time_ns) noexcept {
  if ((sampling_->level() & request::kTraceTimestamps) == 0) return;
  Locked([&]() NEREID_REQUIRES(mutex_) { AddStamp(root_, name, time_ns); });
}

void RequestTrace::OnActivity(Trace& trace, TraceActivity activity, uint64_t time_ns) noexcept {
  OnCustomActivity(trace, NameOf(activity), time_ns);
}

void RequestTrace::OnCustomActivity(Trace& trace, std::string_view name,
                                    uint64_t time_ns) noexcept {
  Locked([&]() NEREID_REQUIRES(mutex_) {
    AddHead(trace);
    AddStamp(trace.id(), name, time_ns);
  });
}

void RequestTrace::OnTensor(Trace& trace, TraceActivity activity,
                            const request::TracedTensor& tensor) noexcept {
  Locked([&]() NEREID_REQUIRES(mutex_) {
    AddHead(trace);
    entries_ += ",{\"id\":" + std::to_string(trace.id()) + ",\"activity\":\"";
    entries_ += NameOf(activity);
    entries_ += "\",\"tensor\":{\"name\":" + QuotedText(tensor.name) +
                ",\"data\":" + QuotedText(TensorText(tensor)) + ",\"shape\":\"" +
                DimensionsText(tensor.shape) + "\",\"dtype\":\"";
    entries_ += tensor::DataTypeName(tensor.type);
    entries_ += "\"}}";
  });
}

void RequestTrace::OnResponse(Trace& trace, uint64_t time_ns) noexcept {
  if (trace.id() == root_) Stamp("INFER_RESPONSE_COMPLETE", time_ns);
}

void RequestTrace::OnReleased(std::unique_ptr<Trace> /*trace*/) noexcept {}

}  // namespace nereid::tracing

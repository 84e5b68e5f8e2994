// SPDX-License-Identifier: Apache-2.0
#include "request/trace.h"

#include <algorithm>
#include <atomic>

#include "base/json_text.h"

namespace nereid::request {
namespace {

uint64_t NextId() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

uint32_t WithoutOldLevels(uint32_t level) {
  const uint32_t old = level & (kTraceMin | kTraceMax);
  return old == 0 ? level : (level & ~old) | kTraceTimestamps;
}

/// Returns the members of `text` if it looks like a JSON object, else "". `text` is not parsed: the
/// context belongs to the client.
std::string_view MembersOf(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == text.npos) return {};
  text = text.substr(first, text.find_last_not_of(kSpace) - first + 1);
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return {};
  text = text.substr(1, text.size() - 2);
  return text.find_first_not_of(kSpace) == text.npos ? std::string_view() : text;
}

bool AnyOnGpu(const std::vector<InputPiece>& pieces) {
  return std::any_of(pieces.begin(), pieces.end(), [](const InputPiece& piece) {
    return piece.memory_type == memory::MemoryType::kGpu;
  });
}

}  // namespace

Trace::Trace(std::shared_ptr<TraceListener> listener, uint32_t level, uint64_t parent_id)
    : listener_(std::move(listener)),
      level_(WithoutOldLevels(level)),
      id_(NextId()),
      parent_id_(parent_id) {}

void Trace::Describe(const ModelIdentity& model, const std::string& request_id) {
  model_name_ = model.name;
  model_version_ = model.version;
  request_id_ = request_id;
}

std::unique_ptr<Trace> Trace::SpawnChild() const {
  return std::make_unique<Trace>(listener_, level_, id_);
}

void Trace::Report(TraceActivity activity, uint64_t time_ns) {
  if (wants_timestamps()) listener_->OnActivity(*this, activity, time_ns);
}

void Trace::ReportCustom(std::string_view name, uint64_t time_ns) {
  const auto known = std::find_if(custom_names_.begin(), custom_names_.end(),
                                  [time_ns](const auto& entry) { return entry.first == time_ns; });
  if (known != custom_names_.end()) {
    known->second = name;
  } else {
    custom_names_.emplace_back(time_ns, name);
  }
  // Rebuilt from the client's own text each time: that text comes first, then one member for each
  // custom activity, whose key is its time.
  context_ = "{";
  context_ += MembersOf(given_context_);
  for (const auto& [time, text] : custom_names_) {
    if (context_.size() > 1) context_ += ',';
    context_ += '"' + std::to_string(time) + "\":" + base::JsonQuote(text);
  }
  context_ += '}';
  if (wants_timestamps()) listener_->OnCustomActivity(*this, name, time_ns);
}

void Trace::SetContext(std::string text) {
  custom_names_.clear();
  given_context_ = std::move(text);
  context_ = given_context_;
}

void Trace::ReportInputs(TraceActivity activity, std::span<const Input> inputs) {
  if (!wants_tensors()) return;
  for (const Input& input : inputs) {
    InputPiece whole;
    std::string joined;
    if (input.pieces.size() == 1) {
      whole = input.pieces.front();
    } else if (!AnyOnGpu(input.pieces)) {
      for (const InputPiece& piece : input.pieces) joined.append(piece.data, piece.size);
      whole.data = joined.data();
      whole.size = joined.size();
    } else {
      continue;  // a tensor is reported whole, and device memory cannot be joined here
    }
    listener_->OnTensor(*this, activity,
                        TracedTensor{input.name.c_str(), input.type, whole.data, whole.size,
                                     input.shape, whole.memory_type, whole.memory_type_id});
  }
}

void Trace::ReportOutputs(const std::vector<std::unique_ptr<Output>>& outputs) {
  if (!wants_tensors()) return;
  for (const auto& output : outputs) {
    listener_->OnTensor(*this, TraceActivity::kTensorBackendOutput,
                        TracedTensor{output->name.c_str(), output->type, output->data, output->size,
                                     output->shape, output->memory_type, output->memory_type_id});
  }
}

std::shared_ptr<Trace> ShareTrace(std::unique_ptr<Trace> trace) {
  return std::shared_ptr<Trace>(trace.release(), [](Trace* last) {
    // OnReleased may destroy the trace and with it the last reference to the listener.
    const std::shared_ptr<TraceListener> listener = last->listener_;
    listener->OnReleased(std::unique_ptr<Trace>(last));
  });
}

}  // namespace nereid::request

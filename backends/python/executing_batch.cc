// SPDX-License-Identifier: Apache-2.0
#include "python/executing_batch.h"

#include <string>

#include "nereid/backend/batch.h"
#include "nereid/backend/input.h"
#include "nereid/backend/log.h"

namespace nereid::python {

using backend::Error;
using backend::NowNs;

ExecutingBatch::ExecutingBatch(TRITONBACKEND_ModelInstance* instance, PendingRequests* requests,
                               const ModelTraits* traits)
    : instance_(instance), table_(*requests), traits_(*traits), exec_start_ns_(NowNs()) {}

ExecutingBatch::~ExecutingBatch() {
  if (!requests_.empty()) {
    Fail(Error(TRITONSERVER_ERROR_UNAVAILABLE, "the batch could not be executed: out of memory"));
  }
}

uint64_t ExecutingBatch::SizeOf(TRITONBACKEND_Request* request) const {
  backend::Input input;
  if (!traits_.batching || !backend::InputAt(request, 0, &input).ok() || input.shape.empty() ||
      input.shape[0] < 0) {
    return 1;
  }
  return static_cast<uint64_t>(input.shape[0]);
}

uint64_t ExecutingBatch::Add(TRITONBACKEND_Request* request) {
  auto pending =
      std::make_shared<PendingRequest>(instance_, request, traits_.decoupled, &traits_.states);
  const uint64_t size = SizeOf(request);
  requests_.reserve(requests_.size() + 1);
  const uint64_t number = table_.Add(pending);
  // From here on nothing throws.
  requests_.push_back({number, pending, size});
  if (const Error opened = traits_.decoupled ? pending->Open() : Error(); !opened.ok()) {
    Refuse(opened);
    return 0;
  }
  return number;
}

void ExecutingBatch::Refuse(const Error& error) {
  const Member member = std::move(requests_.back());
  requests_.pop_back();
  const uint64_t now = NowNs();
  member.pending->PrepareFailure(error);
  member.pending->Report(false, exec_start_ns_, now, now, now);
  EndMember(member);
}

void ExecutingBatch::ComputeStarts() { compute_start_ns_ = NowNs(); }

void ExecutingBatch::Complete(const WireResults& results, Segments* segments) {
  compute_end_ns_ = NowNs();
  if (results.results.size() != requests_.size()) {
    Fail(Error::Internal("the process of the Python model answered " +
                         std::to_string(results.results.size()) + " of " +
                         std::to_string(requests_.size()) + " requests"));
    return;
  }
  {
    // Its end is the note that the segments are read, which the next message to the worker has.
    SegmentUses content(segments, results.data, /*may_lend_inputs=*/true);
    for (const WireResult& result : results.results) {
      content.Add(result.outputs);
    }
    for (size_t i = 0; i < requests_.size(); ++i) {
      requests_[i].pending->Prepare(results.results[i], &content);
    }
  }
  End(!results.failed);
}

std::vector<TRITONBACKEND_Request*> ExecutingBatch::Withdraw() {
  std::vector<TRITONBACKEND_Request*> requests;
  requests.reserve(requests_.size());
  for (const Member& member : requests_) {
    table_.Remove(member.number);
    requests.push_back(member.pending->Withdraw());
  }
  requests_.clear();
  return requests;
}

void ExecutingBatch::Fail(const Error& error) {
  compute_end_ns_ = compute_end_ns_ == 0 ? NowNs() : compute_end_ns_;
  for (const Member& member : requests_) {
    member.pending->PrepareFailure(error);
  }
  End(false);
}

void ExecutingBatch::End(bool success) {
  const uint64_t exec_end_ns = NowNs();
  const uint64_t compute_start_ns =
      compute_start_ns_ == 0 ? compute_end_ns_ : std::max(compute_start_ns_, exec_start_ns_);
  uint64_t batch_size = 0;
  for (const Member& member : requests_) {
    batch_size += member.batch_size;
  }
  // Requests are counted before they are answered: a client that has its response finds it in the
  // statistics.
  if (batch_size > 0) {
    const Error counted(TRITONBACKEND_ModelInstanceReportBatchStatistics(
        instance_, batch_size, exec_start_ns_, compute_start_ns, compute_end_ns_, exec_end_ns));
  }
  for (const Member& member : requests_) {
    member.pending->Report(success, exec_start_ns_, compute_start_ns, compute_end_ns_, exec_end_ns);
  }
  for (const Member& member : requests_) {
    EndMember(member);
  }
  requests_.clear();
}

void ExecutingBatch::EndMember(const Member& member) {
  if (!member.pending->Deliver()) {
    table_.Remove(member.number);
  }
  member.pending->Release();
}

}  // namespace nereid::python

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "framework/gather.h"
#include "framework/gpu_copies.h"
#include "framework/plan.h"
#include "framework/session.h"
#include "nereid/backend/batch.h"
#include "nereid/backend/batch_output.h"
#include "nereid/backend/output.h"

namespace nereid::framework {

/// The requests that run together.
struct Group {
  std::span<const size_t> members;
  /// The sum of their batch sizes.
  int64_t batch_size = 0;
};

/// Chooses the outputs of a run, offers memory for them, and writes the results to the responses
/// and states of the requests. Buffers are reused by later batches. Not thread-safe.
class OutputScatterer {
 public:
  /// The pointers must outlive the object. `gpu` is that of the session.
  OutputScatterer(const RunPlan& plan, InputGatherer* inputs, int gpu, GpuCopies* copies)
      : plan_(plan), inputs_(*inputs), gpu_(gpu), copies_(*copies) {}

  /// Starts a batch of `count` requests.
  void Begin(size_t count) { wanted_.assign(count * plan_.outputs.size(), 0); }

  /// Finds and checks the outputs that a request asks for.
  Error Find(size_t index, TRITONBACKEND_Request* request);

  /// Chooses the outputs that a run of these requests must compute, and which of them the session
  /// should leave on its GPU.
  void Choose(backend::Batch* batch, std::span<const size_t> members);

  /// Allocates the memory of the chosen outputs whose shapes are known before the run, in the
  /// response and the states of a request that runs alone. Sets the places of results().
  Error Reserve(backend::BatchMember* member, const Group& group);

  /// Returns the chosen outputs, as indices of RunPlan::outputs.
  std::span<const size_t> chosen() const { return chosen_; }
  /// Returns the results of the run, one for each of chosen().
  std::span<OutputTensor> results() { return results_; }
  /// Returns the same as a list for Session::RunOpen to fill.
  std::vector<OutputTensor>* open_results() { return &results_; }
  /// Returns whether Reserve has allocated memory in a response or state.
  bool reserved() const { return reserved_; }

  /// Writes the results. All of them are checked before the first one is written. If this fails and
  /// reserved() is false, the responses are still empty and the requests can run again.
  Error Scatter(backend::Batch* batch, const Group& group);

  /// Releases the results.
  void Clear();

 private:
  /// The memory of one result.
  struct Room {
    /// The place in the response or state, if Reserve has allocated one, and its shape.
    backend::OutputMemory memory;
    uint64_t size = 0;
    std::vector<int64_t> shape;
    /// Set if the place is the next value of a state.
    TRITONBACKEND_State* state = nullptr;
    std::vector<backend::OutputPart> parts;
  };

  // The reasons why an output of a request is computed.
  static constexpr unsigned char kState = 1;
  static constexpr unsigned char kAnswer = 2;

  bool TakenOnGpu(backend::Batch* batch, std::span<const size_t> members, size_t output) const;
  bool FindShape(const PlannedOutput& plan, const Group& group, std::vector<int64_t>* shape) const;
  Error ReserveOne(const PlannedOutput& plan, backend::BatchMember* member, Room* room,
                   OutputTensor* result) const;
  Error Check(const PlannedOutput& plan, const OutputTensor& result) const;
  void ShareWhole(const PlannedOutput& plan, const OutputTensor& tensor, size_t count,
                  std::vector<backend::OutputPart>* parts) const;
  Error Cut(backend::Batch* batch, const Group& group, size_t result);
  Error CutAlongBatch(backend::Batch* batch, const Group& group, const PlannedOutput& plan,
                      size_t result);
  Error Complete(backend::BatchMember* member, unsigned char wanted, size_t result);
  Error CopyTo(const backend::OutputMemory& memory, const char* data, int gpu, uint64_t size);
  Error WriteTexts(const backend::OutputMemory& memory, std::span<const std::string_view> texts,
                   uint64_t size);
  Error Give(backend::BatchMember* member, unsigned char wanted, size_t result,
             const backend::OutputPart& part);

  const PlannedOutput& OutputOf(size_t result) const {
    return plan_.open_outputs ? open_outputs_[result] : plan_.outputs[chosen_[result]];
  }
  unsigned char Wanted(size_t member, size_t result) const {
    return plan_.open_outputs ? kAnswer : wanted_[member * plan_.outputs.size() + chosen_[result]];
  }

  const RunPlan& plan_;
  InputGatherer& inputs_;
  const int gpu_;
  GpuCopies& copies_;
  std::vector<unsigned char> wanted_;  // [request][output]
  std::vector<size_t> chosen_;
  std::vector<PlannedOutput> open_outputs_;  // for each of results_ of a run without planned ones
  std::vector<OutputTensor> results_;        // for each of chosen_ or open_outputs_
  std::vector<Room> rooms_;                  // for each of results_, or more
  std::vector<int64_t> batch_sizes_;         // scratch
  backend::AlignedBuffer texts_;             // scratch
  bool reserved_ = false;
};

}  // namespace nereid::framework

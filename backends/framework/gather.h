// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "framework/gpu_copies.h"
#include "framework/host_scratch.h"
#include "framework/plan.h"
#include "framework/session.h"
#include "nereid/backend/aligned_buffer.h"
#include "nereid/backend/batch.h"
#include "nereid/backend/batch_input.h"
#include "nereid/backend/input.h"

namespace nereid::framework {

/// Finds the inputs of the requests of a batch, and puts them together for a run. Buffers are
/// reused by later batches. Not thread-safe.
class InputGatherer {
 public:
  /// `plan` and `copies` must outlive the object. `gpu` is that of the session.
  InputGatherer(const RunPlan& plan, int gpu, GpuCopies* copies);

  /// Takes memory for tensors in host memory from `manager`, pinned, which must outlive the object.
  void UsePinned(TRITONBACKEND_MemoryManager* manager);

  /// Starts a batch of `count` requests.
  void Begin(size_t count);

  /// Finds and checks the inputs of a request, and sets its batch size.
  Error Find(size_t index, backend::BatchMember* member);

  /// Puts the inputs of the given requests together: in host memory, or in the memory of the
  /// session's GPU if a part of the input is in the memory of a GPU.
  Error Gather(std::span<const size_t> members);

  /// Returns the result of Gather, in the order of RunPlan::inputs. Its memory is valid until the
  /// next Gather, Begin or End.
  std::span<const InputTensor> tensors() const { return tensors_; }

  /// Returns an input of a request. Its handle is null if the request has omitted it.
  const backend::Input& InputOf(size_t member, size_t input) const {
    return found_[member * plan_.inputs.size() + input];
  }

  /// Returns the shapes of an input from which something is derived, for each of the given
  /// requests. INVALID_ARG if a request has omitted the input. `*shapes` is valid until the next
  /// call.
  Error ReadShapes(std::span<const size_t> members, size_t input,
                   std::span<const backend::ShapeView>* shapes);

  /// Ends the batch and frees buffers that are too large to be kept.
  void End();

 private:
  /// The memory of one input of a run.
  struct Room {
    std::vector<int64_t> shape;
    std::vector<std::string_view> texts;
    /// For a tensor that describes the batch.
    backend::AlignedBuffer bytes;
    HostScratch host;
    GpuScratch gpu;
  };

  Error Check(const PlannedInput& plan, const backend::Input& input, backend::BatchMember* member,
              bool* sized) const;
  Error GatherOne(std::span<const size_t> members, size_t index);
  Error GatherFromGpu(const PlannedInput& plan, Room* room, InputTensor* tensor);
  Error ListPieces(uint64_t* total);
  Error Coalesce(const PlannedInput& plan, InputTensor* tensor, bool* done);
  Error Derive(std::span<const size_t> members, size_t index);
  Error MakeShape(const PlannedInput& plan, std::vector<int64_t>* shape) const;
  Error KeepOne(const PlannedInput& plan, InputTensor* tensor) const;
  Error SplitTexts(const PlannedInput& plan, const char* data,
                   std::vector<std::string_view>* texts) const;

  const RunPlan& plan_;
  const int gpu_;
  GpuCopies& copies_;
  std::vector<backend::Input> found_;        // [request][input]
  std::vector<InputTensor> tensors_;         // for each input of the plan
  std::vector<Room> rooms_;                  // for each input of the plan
  std::vector<backend::Input> same_;         // scratch: one input of all requests
  std::vector<backend::InputPiece> pieces_;  // scratch: the parts of one input
  std::vector<backend::ShapeView> shapes_;   // scratch
};

}  // namespace nereid::framework

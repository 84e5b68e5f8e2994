// SPDX-License-Identifier: Apache-2.0
#include "request/host_inputs.h"

#include <algorithm>
#include <string>
#include <utility>

#include "memory/gpu/copy.h"

namespace nereid::request {
namespace {

using base::Status;

bool IsOnGpu(const InputPiece& piece) { return piece.memory_type == memory::MemoryType::kGpu; }

/// Replaces the pieces of an input by copies whose bytes arrive later.
Status MoveInput(InferenceRequest& request, size_t index, memory::CopyBatch& batch) {
  const Input& input = request.inputs()[index];
  ReplacedInput replaced{index, {}, {}, {}};
  std::vector<InputPiece> pieces = input.pieces;
  for (InputPiece& piece : pieces) {
    if (!IsOnGpu(piece) || piece.size == 0) continue;
    memory::HostBuffer copy = memory::HostBuffer::Allocate(piece.size);
    if (!copy) {
      (void)batch.Wait();  // before the copies are freed
      return Status::Unavailable("out of memory: the copy of input '" + input.name + "' needs " +
                                 std::to_string(piece.size) + " bytes");
    }
    char* const data = copy.data();
    replaced.copies.push_back(std::move(copy));
    if (Status status =
            batch.Add({data}, {piece.data, piece.memory_type, piece.memory_type_id}, piece.size);
        !status.ok()) {
      (void)batch.Wait();  // before the copies are freed
      return status.WithPrefix("input '" + input.name + "': ");
    }
    piece = {data, piece.size};
  }
  request.inputs().Replace(std::move(replaced), std::move(pieces));
  return Status::Ok();
}

/// Replaces the inputs for which `is_moved` returns true, as far as they are in GPU memory.
template <typename IsMoved>
Status MoveInputs(InferenceRequest& request, memory::CopyBatch& batch, IsMoved is_moved) {
  for (size_t i = 0; i < request.inputs().size(); ++i) {
    const Input& input = request.inputs()[i];
    if (!is_moved(input) || !std::any_of(input.pieces.begin(), input.pieces.end(), IsOnGpu)) {
      continue;
    }
    NEREID_RETURN_IF_ERROR(MoveInput(request, i, batch).WithPrefix(request.LogPrefix()));
  }
  return Status::Ok();
}

}  // namespace

Status MoveInputsToHost(std::span<const std::unique_ptr<InferenceRequest>> requests) {
  memory::CopyBatch batch;
  for (const auto& request : requests) {
    if (!request->has_gpu_memory) continue;
    NEREID_RETURN_IF_ERROR(MoveInputs(*request, batch, [](const Input&) { return true; }));
  }
  return batch.Wait();
}

Status MoveStringsToHost(InferenceRequest& request) {
  if (!request.has_gpu_memory) return Status::Ok();
  memory::CopyBatch batch;
  const bool is_raw = request.inputs().is_raw();
  NEREID_RETURN_IF_ERROR(MoveInputs(request, batch, [is_raw](const Input& input) {
    return is_raw || input.type == tensor::DataType::kBytes;
  }));
  return batch.Wait();
}

}  // namespace nereid::request

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

}  // namespace

Status MoveInputsToHost(std::span<const std::unique_ptr<InferenceRequest>> requests) {
  memory::CopyBatch batch;
  for (const auto& request : requests) {
    if (!request->has_gpu_memory) continue;
    for (size_t i = 0; i < request->inputs().size(); ++i) {
      const auto& pieces = request->inputs()[i].pieces;
      if (!std::any_of(pieces.begin(), pieces.end(), IsOnGpu)) continue;
      NEREID_RETURN_IF_ERROR(MoveInput(*request, i, batch).WithPrefix(request->LogPrefix()));
    }
  }
  return batch.Wait();
}

}  // namespace nereid::request

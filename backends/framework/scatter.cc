// SPDX-License-Identifier: Apache-2.0
#include "framework/scatter.h"

#include <algorithm>
#include <cstring>

#include "nereid/backend/bytes_tensor.h"
#include "nereid/backend/output.h"
#include "nereid/backend/sequence.h"

namespace nereid::framework {

using backend::Batch;
using backend::BatchMember;
using backend::OutputPart;

Error OutputScatterer::Find(size_t index, TRITONBACKEND_Request* request) {
  unsigned char* wanted = wanted_.data() + index * plan_.outputs.size();
  for (size_t i = 0; i < plan_.outputs.size(); ++i) {
    wanted[i] = plan_.outputs[i].state ? kState : 0;
  }
  return backend::ForEachRequestedOutput(request, [&](const char* name) -> Error {
    const int output = plan_.FindListed(name);
    if (output < 0) {
      return Error::InvalidArgument("model '" + plan_.model_name + "' has no output '" + name +
                                    "'");
    }
    wanted[output] |= kAnswer;
    return {};
  });
}

void OutputScatterer::Choose(Batch* batch, std::span<const size_t> members) {
  chosen_.clear();
  for (size_t i = 0; i < plan_.outputs.size(); ++i) {
    if (std::any_of(members.begin(), members.end(), [&](size_t member) {
          return wanted_[member * plan_.outputs.size() + i] != 0;
        })) {
      chosen_.push_back(i);
    }
  }
  Clear();
  open_outputs_.clear();
  results_.resize(chosen_.size());
  for (size_t i = 0; gpu_ >= 0 && i < chosen_.size(); ++i) {
    results_[i].wanted_on_gpu = TakenOnGpu(batch, members, chosen_[i]);
  }
}

/// Returns whether a request takes the output in the memory of the session's GPU.
bool OutputScatterer::TakenOnGpu(Batch* batch, std::span<const size_t> members,
                                 size_t output) const {
  const PlannedOutput& plan = plan_.outputs[output];
  if (plan.text()) {
    return false;
  }
  return std::any_of(members.begin(), members.end(), [&](size_t member) {
    const unsigned char wanted = wanted_[member * plan_.outputs.size() + output];
    if ((wanted & kState) != 0) {
      return true;
    }
    TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_GPU;
    int64_t type_id = gpu_;
    // An error means that the server cannot tell.
    const Error known(TRITONBACKEND_RequestOutputBufferProperties(
        (*batch)[member].request, plan.name.c_str(), nullptr, &type, &type_id));
    return (wanted & kAnswer) != 0 && known.ok() && type == TRITONSERVER_MEMORY_GPU &&
           type_id == gpu_;
  });
}

void OutputScatterer::Clear() {
  for (OutputTensor& result : results_) {
    result.Clear();
  }
  for (Room& room : rooms_) {
    room.memory = {};
    room.state = nullptr;
  }
  reserved_ = false;
}

Error OutputScatterer::Reserve(BatchMember* member, const Group& group) {
  rooms_.resize(std::max(rooms_.size(), chosen_.size()));
  for (size_t i = 0; i < chosen_.size(); ++i) {
    const PlannedOutput& plan = plan_.outputs[chosen_[i]];
    if (!plan.dims.empty() && FindShape(plan, group, &rooms_[i].shape)) {
      NEREID_BACKEND_TRY(ReserveOne(plan, member, &rooms_[i], &results_[i]));
      reserved_ = reserved_ || rooms_[i].memory.data != nullptr;
    }
  }
  return {};
}

/// Sets `shape` to the shape that the output will have. Returns false if the request has omitted
/// the input that determines it.
bool OutputScatterer::FindShape(const PlannedOutput& plan, const Group& group,
                                std::vector<int64_t>* shape) const {
  shape->clear();
  for (const PlannedDim& dim : plan.dims) {
    switch (dim.kind) {
      case PlannedDim::Kind::kFixed:
        shape->push_back(dim.size);
        break;
      case PlannedDim::Kind::kBatch:
        shape->push_back(group.batch_size);
        break;
      case PlannedDim::Kind::kInputDim: {
        const backend::Input& input = inputs_.InputOf(group.members[0], dim.input);
        if (input.handle == nullptr || dim.dim >= input.shape.size()) {
          return false;
        }
        shape->push_back(input.shape[dim.dim]);
        break;
      }
    }
  }
  return true;
}

/// Allocates an output or state of the shape room->shape. The result's place stays without memory
/// if the session cannot write there, because the memory is not aligned or on another GPU.
Error OutputScatterer::ReserveOne(const PlannedOutput& plan, BatchMember* member, Room* room,
                                  OutputTensor* result) const {
  const int64_t size = backend::TensorByteSize(plan.data_type, room->shape);
  if (size <= 0) {
    return {};
  }
  room->size = static_cast<uint64_t>(size);
  room->memory.gpu = result->wanted_on_gpu ? gpu_ : -1;
  NEREID_BACKEND_TRY(
      plan.state ? backend::AllocateState(member->request, plan.name.c_str(), plan.data_type,
                                          room->shape, room->size, &room->state, &room->memory)
                 : backend::AllocateOutput(member->response, plan.name.c_str(), plan.data_type,
                                           room->shape, room->size, &room->memory));
  const backend::OutputMemory& memory = room->memory;
  const uint32_t alignment =
      memory.gpu >= 0 ? kGpuAlignment : TRITONSERVER_DataTypeByteSize(plan.data_type);
  if ((memory.gpu < 0 || memory.gpu == gpu_) &&
      reinterpret_cast<uintptr_t>(memory.data) % alignment == 0) {
    result->place = {memory.data, room->size, room->shape, memory.gpu};
  }
  return {};
}

/// Checks a result against the plan. It is not trusted, because a model may return something
/// different from what it declares.
Error OutputScatterer::Check(const PlannedOutput& plan, const OutputTensor& result) const {
  if (result.data_type == plan.data_type) {
    const int64_t count = backend::ElementCount(result.shape);
    const bool fits = plan.text() ? count == static_cast<int64_t>(result.texts.size())
                                  : backend::TensorByteSize(plan.data_type, result.shape) ==
                                        static_cast<int64_t>(result.size);
    if (count >= 0 && fits) {
      return {};
    }
  }
  const std::string what = "output '" + plan.name + "' of model '" + plan_.model_name + "'";
  return result.data_type != plan.data_type
             ? Error::Internal(
                   what + " is of type " + TRITONSERVER_DataTypeString(result.data_type) +
                   ", but the configuration says " + TRITONSERVER_DataTypeString(plan.data_type))
             : Error::Internal(what + " has the impossible shape " +
                               backend::ShapeText(result.shape));
}

/// Gives each request the whole result.
void OutputScatterer::ShareWhole(const PlannedOutput& plan, const OutputTensor& tensor,
                                 size_t count, std::vector<OutputPart>* parts) const {
  parts->resize(count);
  for (OutputPart& part : *parts) {
    part.shape.assign(tensor.shape.begin(), tensor.shape.end());
    part.first = 0;
    part.count = backend::ElementCount(tensor.shape);
    if (plan.scalar && part.count == 1 && part.shape.size() == 1) {
      part.shape.clear();
    } else if (part.shape.empty() && !plan.scalar && !plan_.batching) {
      part.shape.assign(1, 1);  // the protocol has no rank 0
    }
  }
}

/// Sets the parts of a result for the requests.
Error OutputScatterer::Cut(Batch* batch, const Group& group, size_t result) {
  const PlannedOutput& plan = OutputOf(result);
  const OutputTensor& tensor = results_[result];
  Room& room = rooms_[result];
  NEREID_BACKEND_TRY(Check(plan, tensor));
  if (plan.scatter) {
    std::span<const backend::ShapeView> sources;
    NEREID_BACKEND_TRY(inputs_.ReadShapes(group.members, plan.scatter->source, &sources));
    return backend::ScatterWithInputShape(plan.name, plan.scatter->dims, sources,
                                          backend::ElementCount(tensor.shape), &room.parts);
  }
  if (plan_.batching) {
    NEREID_BACKEND_TRY(CutAlongBatch(batch, group, plan, result));
  } else {
    ShareWhole(plan, tensor, group.members.size(), &room.parts);
  }
  if (room.memory.data != nullptr && room.parts.front().shape != room.shape) {
    return Error::Internal("output '" + plan.name + "' of model '" + plan_.model_name +
                           "' has another shape than the model declares");
  }
  return {};
}

Error OutputScatterer::CutAlongBatch(Batch* batch, const Group& group, const PlannedOutput& plan,
                                     size_t result) {
  const OutputTensor& tensor = results_[result];
  if (tensor.shape.empty() || tensor.shape[0] != group.batch_size) {
    return Error::Internal("output '" + plan.name + "' of model '" + plan_.model_name +
                           "' has the shape " + backend::ShapeText(tensor.shape) +
                           ", whose first dimension should be the batch size " +
                           std::to_string(group.batch_size));
  }
  batch_sizes_.clear();
  for (const size_t i : group.members) {
    batch_sizes_.push_back(static_cast<int64_t>((*batch)[i].batch_size));
  }
  return backend::ScatterAlongBatch(plan.name, tensor.shape, batch_sizes_, &rooms_[result].parts);
}

Error OutputScatterer::Scatter(Batch* batch, const Group& group) {
  if (plan_.open_outputs) {
    for (const OutputTensor& result : results_) {
      PlannedOutput& output = open_outputs_.emplace_back();
      output.name = result.name;
      output.data_type = result.data_type;
    }
  }
  rooms_.resize(std::max(rooms_.size(), results_.size()));
  for (size_t i = 0; i < results_.size(); ++i) {
    if (!results_[i].in_place) {
      NEREID_BACKEND_TRY(Cut(batch, group, i));
    }
  }
  for (size_t i = 0; i < results_.size(); ++i) {
    if (rooms_[i].memory.data != nullptr) {
      const size_t only = group.members[0];
      NEREID_BACKEND_TRY(Complete(&(*batch)[only], Wanted(only, i), i));
      continue;
    }
    for (size_t k = 0; k < group.members.size(); ++k) {
      // If the buffer of a response cannot be allocated, only that request fails.
      const size_t member = group.members[k];
      batch->Fail(member, Give(&(*batch)[member], Wanted(member, i), i, rooms_[i].parts[k]));
    }
  }
  if (const Error error = copies_.Wait(); !error.ok()) {
    for (const size_t member : group.members) {  // the responses are not empty any more
      batch->Fail(member, Error(TRITONSERVER_ErrorCode(error.get()), error.message()));
    }
  }
  return {};
}

Error OutputScatterer::CopyTo(const backend::OutputMemory& memory, const char* data, int gpu,
                              uint64_t size) {
  if (memory.gpu >= 0 || gpu >= 0) {
    return copies_.Add(memory.data, memory.gpu, data, gpu, size);
  }
  if (size != 0) {
    std::memcpy(memory.data, data, size);
  }
  return {};
}

/// Writes the elements of a BYTES tensor, which take `size` bytes.
Error OutputScatterer::WriteTexts(const backend::OutputMemory& memory,
                                  std::span<const std::string_view> texts, uint64_t size) {
  char* const begin = memory.gpu >= 0 ? texts_.Reserve(size) : memory.data;
  char* out = begin;
  for (const std::string_view text : texts) {
    out = backend::WriteBytesElement(text, out);
  }
  if (memory.gpu < 0) {
    return {};
  }
  NEREID_BACKEND_TRY(copies_.Add(memory.data, memory.gpu, begin, -1, size));
  return copies_.Wait();
}

/// Completes an output or state whose memory was allocated before the run.
Error OutputScatterer::Complete(BatchMember* member, unsigned char wanted, size_t result) {
  const PlannedOutput& plan = OutputOf(result);
  const Room& room = rooms_[result];
  if (!results_[result].in_place) {
    NEREID_BACKEND_TRY(CopyTo(room.memory, results_[result].data, results_[result].gpu, room.size));
  }
  if (room.state == nullptr) {
    return {};
  }
  NEREID_BACKEND_TRY(copies_.Wait());
  NEREID_BACKEND_TRY(TRITONBACKEND_StateUpdate(room.state));
  if ((wanted & kAnswer) == 0) {
    return {};
  }
  backend::OutputMemory answer{nullptr, room.memory.gpu};
  NEREID_BACKEND_TRY(backend::AllocateOutput(member->response, plan.name.c_str(), plan.data_type,
                                             room.shape, room.size, &answer));
  return CopyTo(answer, room.memory.data, room.memory.gpu, room.size);
}

/// Writes one request's part of a result, as an output, a state or both.
Error OutputScatterer::Give(BatchMember* member, unsigned char wanted, size_t result,
                            const OutputPart& part) {
  const PlannedOutput& plan = OutputOf(result);
  const OutputTensor& tensor = results_[result];
  const auto first = static_cast<size_t>(part.first);
  const auto count = static_cast<size_t>(part.count);
  const size_t width = TRITONSERVER_DataTypeByteSize(plan.data_type);
  uint64_t size = count * width;
  for (size_t i = first; plan.text() && i < first + count; ++i) {
    size += sizeof(uint32_t) + tensor.texts[i].size();
  }
  const auto write = [&](const backend::OutputMemory& memory) {
    return plan.text() ? WriteTexts(memory, std::span(tensor.texts).subspan(first, count), size)
                       : CopyTo(memory, tensor.data + first * width, tensor.gpu, size);
  };
  if ((wanted & kAnswer) != 0) {
    backend::OutputMemory memory{nullptr, tensor.gpu};
    NEREID_BACKEND_TRY(backend::AllocateOutput(member->response, plan.name.c_str(), plan.data_type,
                                               part.shape, size, &memory));
    NEREID_BACKEND_TRY(write(memory));
  }
  if ((wanted & kState) != 0) {
    TRITONBACKEND_State* state = nullptr;
    backend::OutputMemory memory{nullptr, tensor.gpu};
    NEREID_BACKEND_TRY(backend::AllocateState(member->request, plan.name.c_str(), plan.data_type,
                                              part.shape, size, &state, &memory));
    NEREID_BACKEND_TRY(write(memory));
    NEREID_BACKEND_TRY(copies_.Wait());
    NEREID_BACKEND_TRY(TRITONBACKEND_StateUpdate(state));
  }
  return {};
}

}  // namespace nereid::framework

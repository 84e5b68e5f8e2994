// SPDX-License-Identifier: Apache-2.0
#include "framework/gather.h"

#include <cstring>

#include "nereid/backend/bytes_tensor.h"

namespace nereid::framework {

using backend::BatchMember;
using backend::Input;

InputGatherer::InputGatherer(const RunPlan& plan, int gpu, GpuCopies* copies)
    : plan_(plan),
      gpu_(gpu),
      copies_(*copies),
      tensors_(plan.inputs.size()),
      rooms_(plan.inputs.size()) {}

void InputGatherer::UsePinned(TRITONBACKEND_MemoryManager* manager) {
  for (Room& room : rooms_) {
    room.host.UsePinned(manager);
  }
}

void InputGatherer::Begin(size_t count) { found_.assign(count * plan_.inputs.size(), Input()); }

void InputGatherer::End() {
  for (Room& room : rooms_) {
    room.bytes.Trim();
    room.host.Trim();
    room.gpu.Trim();
  }
}

Error InputGatherer::Find(size_t index, BatchMember* member) {
  bool sized = false;
  for (size_t i = 0; i < plan_.inputs.size(); ++i) {
    const PlannedInput& plan = plan_.inputs[i];
    if (plan.derived) {
      continue;
    }
    Input* input = &found_[index * plan_.inputs.size() + i];
    NEREID_BACKEND_TRY(backend::FindOptionalInput(member->request, plan.name.c_str(), input));
    if (input->handle != nullptr) {
      NEREID_BACKEND_TRY(Check(plan, *input, member, &sized));
    } else if (!plan.has_default) {
      return Error::InvalidArgument("the request lacks the input '" + plan.name +
                                    "', for which model '" + plan_.model_name + "' has no default");
    }
  }
  return {};
}

Error InputGatherer::Check(const PlannedInput& plan, const Input& input, BatchMember* member,
                           bool* sized) const {
  if (input.data_type != plan.data_type) {
    return Error::InvalidArgument("input '" + plan.name + "' of model '" + plan_.model_name +
                                  "' is of type " + TRITONSERVER_DataTypeString(plan.data_type) +
                                  ", not " + TRITONSERVER_DataTypeString(input.data_type));
  }
  if (!plan.non_linear) {
    NEREID_BACKEND_TRY(backend::CheckInputSize(input));
  }
  if (!plan_.batching || plan.shape_tensor) {
    return {};
  }
  if (input.shape.empty()) {
    return Error::InvalidArgument("input '" + plan.name + "' lacks the batch dimension");
  }
  const auto batch_size = static_cast<uint64_t>(input.shape[0]);
  if (*sized && batch_size != member->batch_size) {
    return Error::InvalidArgument("input '" + plan.name + "' has the batch size " +
                                  std::to_string(batch_size) + ", other inputs of the request " +
                                  std::to_string(member->batch_size));
  }
  member->batch_size = batch_size;
  *sized = true;
  return {};
}

Error InputGatherer::Gather(std::span<const size_t> members) {
  for (size_t i = 0; i < plan_.inputs.size(); ++i) {
    NEREID_BACKEND_TRY(plan_.inputs[i].derived ? Derive(members, i) : GatherOne(members, i));
  }
  return copies_.Wait();
}

Error InputGatherer::GatherOne(std::span<const size_t> members, size_t index) {
  const PlannedInput& plan = plan_.inputs[index];
  Room& room = rooms_[index];
  InputTensor* tensor = &tensors_[index];
  *tensor = InputTensor();
  same_.clear();
  for (const size_t member : members) {
    if (const Input& input = InputOf(member, index); input.handle != nullptr) {
      same_.push_back(input);
    }
  }
  if (same_.empty()) {
    return {};
  }
  if (same_.size() != members.size()) {
    return Error::InvalidArgument("only some requests of the batch have the input '" + plan.name +
                                  "'");
  }
  NEREID_BACKEND_TRY(MakeShape(plan, &room.shape));
  tensor->present = true;
  tensor->data_type = plan.data_type;
  tensor->shape = room.shape;
  if (plan_.coalesces_inputs && same_.size() > 1 && !plan.shape_tensor && !plan.text()) {
    bool done = false;
    NEREID_BACKEND_TRY(Coalesce(plan, tensor, &done));
    if (done) {
      return {};
    }
  }
  backend::Gathered gathered;
  bool on_gpu = false;
  NEREID_BACKEND_TRY(backend::GatherInputs(same_, plan.alignment, &room.host, &gathered, &on_gpu));
  tensor->data = gathered.data;
  tensor->size = gathered.size;
  if (on_gpu) {
    NEREID_BACKEND_TRY(GatherFromGpu(plan, &room, tensor));
  }
  if (plan.shape_tensor) {
    NEREID_BACKEND_TRY(KeepOne(plan, tensor));
  }
  if (plan.text()) {
    NEREID_BACKEND_TRY(SplitTexts(plan, tensor->data, &room.texts));
    tensor->texts = room.texts;
  }
  return {};
}

/// Lists the parts of the tensors in same_, and checks their sizes.
Error InputGatherer::ListPieces(uint64_t* total) {
  pieces_.clear();
  *total = 0;
  for (const Input& input : same_) {
    uint64_t size = 0;
    for (uint32_t i = 0; i < input.buffer_count; ++i) {
      backend::InputPiece& piece = pieces_.emplace_back();
      NEREID_BACKEND_TRY(backend::ReadPiece(input, i, &piece));
      if (piece.size > input.byte_size - size) {
        return backend::input_detail::WrongSize(input,
                                                "more than " + std::to_string(input.byte_size));
      }
      size += piece.size;
    }
    if (size != input.byte_size) {
      return backend::input_detail::WrongSize(input, std::to_string(size));
    }
    if (__builtin_add_overflow(*total, size, total)) {
      return Error::InvalidArgument("input '" + std::string(input.name) + "' is too large");
    }
  }
  return {};
}

/// Uses the tensors in same_ in place if each begins where the one before ends.
Error InputGatherer::Coalesce(const PlannedInput& plan, InputTensor* tensor, bool* done) {
  uint64_t total = 0;
  NEREID_BACKEND_TRY(ListPieces(&total));
  if (pieces_.empty()) {
    return {};
  }
  const backend::InputPiece& first = pieces_.front();
  const bool usable = first.gpu < 0 || (first.gpu == gpu_ && !plan.in_host_memory);
  const size_t alignment = first.gpu < 0 ? plan.alignment : kGpuAlignment;
  const char* next = first.data;
  for (const backend::InputPiece& piece : pieces_) {
    if (!usable || piece.gpu != first.gpu || piece.data != next) {
      return {};
    }
    next += piece.size;
  }
  *done = first.data != nullptr && reinterpret_cast<uintptr_t>(first.data) % alignment == 0;
  if (*done) {
    tensor->data = first.data;
    tensor->size = total;
    tensor->gpu = first.gpu;
  }
  return {};
}

/// Puts tensors together some parts of which are in GPU memory. A single part on the session's GPU
/// is used in place.
Error InputGatherer::GatherFromGpu(const PlannedInput& plan, Room* room, InputTensor* tensor) {
  NEREID_BACKEND_TRY(ListPieces(&tensor->size));
  const bool to_host = gpu_ < 0 || plan.text() || plan.shape_tensor || plan.in_host_memory;
  tensor->gpu = to_host ? -1 : gpu_;
  if (!to_host && pieces_.size() == 1 && pieces_[0].gpu == gpu_ &&
      reinterpret_cast<uintptr_t>(pieces_[0].data) % kGpuAlignment == 0) {
    tensor->data = pieces_[0].data;
    return {};
  }
  char* out = nullptr;
  if (to_host) {
    out = room->host.Reserve(tensor->size);
  } else {
    NEREID_BACKEND_TRY(room->gpu.Reserve(gpu_, tensor->size, &out));
  }
  tensor->data = out;
  for (const backend::InputPiece& piece : pieces_) {
    NEREID_BACKEND_TRY(copies_.Add(out, tensor->gpu, piece.data, piece.gpu, piece.size));
    out += piece.size;
  }
  return to_host ? copies_.Wait() : Error();
}

/// Builds an input from the shapes of another one (`batch_input`).
Error InputGatherer::Derive(std::span<const size_t> members, size_t index) {
  const PlannedInput& plan = plan_.inputs[index];
  Room& room = rooms_[index];
  std::span<const backend::ShapeView> shapes;
  NEREID_BACKEND_TRY(ReadShapes(members, plan.derived->source, &shapes));
  size_t size = 0;
  NEREID_BACKEND_TRY(backend::MakeBatchInput(plan.derived->config, shapes, plan.derived->room,
                                             &room.bytes, &room.shape, &size));
  tensors_[index] = {true, plan.data_type, room.shape, room.bytes.Reserve(0), size, {}, -1};
  return {};
}

Error InputGatherer::ReadShapes(std::span<const size_t> members, size_t input,
                                std::span<const backend::ShapeView>* shapes) {
  shapes_.clear();
  for (const size_t member : members) {
    const Input& source = InputOf(member, input);
    if (source.handle == nullptr) {
      return Error::InvalidArgument("the request lacks the input '" + plan_.inputs[input].name +
                                    "', from which model '" + plan_.model_name +
                                    "' derives its batch");
    }
    shapes_.push_back(source.shape);
  }
  *shapes = shapes_;
  return {};
}

/// Sets `shape` to the shape of the concatenated tensors in same_.
Error InputGatherer::MakeShape(const PlannedInput& plan, std::vector<int64_t>* shape) const {
  if (plan.ragged) {
    return backend::FlattenedShape(same_, shape);
  }
  if (plan_.batching && !plan.shape_tensor) {
    return backend::ConcatenatedShape(same_, shape);
  }
  const std::span<const int64_t> only = same_[0].shape;
  shape->assign(only.begin(), only.end());
  if (plan.scalar) {
    if (backend::ElementCount(only) != 1) {
      return Error::InvalidArgument("input '" + plan.name + "' must hold one element, not shape " +
                                    backend::ShapeText(only));
    }
    shape->clear();
  }
  return {};
}

/// Checks that the tensors in same_, which `tensor` holds one after the other, are all equal, and
/// keeps the first.
Error InputGatherer::KeepOne(const PlannedInput& plan, InputTensor* tensor) const {
  tensor->size = same_[0].byte_size;
  const char* next = tensor->data;
  for (const Input& input : same_) {
    if (input.byte_size != tensor->size ||
        (tensor->size != 0 && std::memcmp(tensor->data, next, tensor->size) != 0)) {
      return Error::InvalidArgument("the requests of the batch differ in the shape tensor '" +
                                    plan.name + "'");
    }
    next += input.byte_size;
  }
  return {};
}

/// Splits `data`, the concatenated tensors in same_, into elements.
Error InputGatherer::SplitTexts(const PlannedInput& plan, const char* data,
                                std::vector<std::string_view>* texts) const {
  texts->clear();
  for (const Input& input : same_) {
    NEREID_BACKEND_TRY(backend::ForEachBytesElement(
        data, input.byte_size, backend::ElementCount(input.shape), plan.name,
        [&](int64_t, std::string_view element) { texts->push_back(element); }));
    data += input.byte_size;
  }
  return {};
}

}  // namespace nereid::framework

// SPDX-License-Identifier: Apache-2.0
#include "python/batch_message.h"

#include <map>
#include <string>
#include <utility>

#include "nereid/backend/log.h"
#include "nereid/backend/output.h"
#include "python/gpu_sharing.h"
#include "python/parameters_text.h"

namespace nereid::python {

using backend::Error;
using backend::Input;

namespace {

/// The tensors in a message are aligned for numbers of every type.
constexpr uint64_t kMessageAlignment = 16;
/// A message with more bytes in tensors than this keeps the next ones in the segment.
constexpr uint64_t kMaxMessageData = kMaxMessage / 2;

uint64_t Align(uint64_t size, uint64_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

}  // namespace

void BatchMessage::Begin(uint64_t batch, const std::vector<uint32_t>& released,
                         BatchMemory memory) {
  message_.clear();
  placed_.clear();
  segments_.clear();
  memory_ = std::move(memory);
  has_gpu_tensors_ = false;
  count_ = 0;
  message_data_ = 0;
  segment_data_ = 0;
  WireWriter out(&message_);
  WriteHeader(&out, MessageType::kExecute, batch, released);
  count_field_ = out.size();
  out.Number(uint32_t{0});  // the number of requests
  out.Number(uint32_t{0});  // where the data begin
}

Error BatchMessage::Add(uint64_t number, TRITONBACKEND_Request* request) {
  const size_t message_size = message_.size();
  const size_t placed = placed_.size();
  const size_t segments = segments_.size();
  const uint64_t message_data = message_data_;
  const uint64_t segment_data = segment_data_;
  Error added = backend::Catching([&]() -> Error {
    uint32_t inputs = 0;
    NEREID_BACKEND_TRY(TRITONBACKEND_RequestInputCount(request, &inputs));
    NEREID_BACKEND_TRY(WriteFixed(number, request, inputs));
    for (uint32_t i = 0; i < inputs; ++i) {
      Input input;
      NEREID_BACKEND_TRY(backend::InputAt(request, i, &input));
      NEREID_BACKEND_TRY(AddInput(input));
    }
    return {};
  });
  if (added.ok()) {
    ++count_;
  } else {
    message_.resize(message_size);
    placed_.resize(placed);
    FreeSegmentsBehind(segments);
    message_data_ = message_data;
    segment_data_ = segment_data;
  }
  return added;
}

Error BatchMessage::ReadParameters(TRITONBACKEND_Request* request) {
  uint32_t count = 0;
  parameters_.clear();
  NEREID_BACKEND_TRY(TRITONBACKEND_RequestParameterCount(request, &count));
  if (count == 0) {
    return {};
  }
  ParametersText text;
  for (uint32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_STRING;
    const void* value = nullptr;
    NEREID_BACKEND_TRY(TRITONBACKEND_RequestParameter(request, i, &name, &type, &value));
    NEREID_BACKEND_TRY(text.Add(name, type, value));
  }
  parameters_ = text.Finish();
  return {};
}

Error BatchMessage::ReadOutputs(TRITONBACKEND_Request* request) {
  outputs_.clear();
  return backend::ForEachRequestedOutput(request, [&](const char* name) -> Error {
    outputs_ += name;
    outputs_ += '\0';
    return {};
  });
}

Error BatchMessage::WriteFixed(uint64_t number, TRITONBACKEND_Request* request, uint32_t inputs) {
  const char* id = nullptr;
  uint64_t correlation = 0;
  const char* correlation_text = "";
  uint32_t flags = 0;
  uint64_t timeout_us = 0;
  TRITONSERVER_InferenceTrace* trace = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_RequestId(request, &id));
  NEREID_BACKEND_TRY(TRITONBACKEND_RequestFlags(request, &flags));
  NEREID_BACKEND_TRY(TRITONBACKEND_InferenceRequestTimeoutMicroseconds(request, &timeout_us));
  // The function fails if the id is a text.
  const bool is_text = !Error(TRITONBACKEND_RequestCorrelationId(request, &correlation)).ok();
  if (is_text) {
    NEREID_BACKEND_TRY(TRITONBACKEND_RequestCorrelationIdString(request, &correlation_text));
  }
  if (!Error(TRITONBACKEND_RequestTrace(request, &trace)).ok()) {
    trace = nullptr;
  }
  NEREID_BACKEND_TRY(ReadParameters(request));
  NEREID_BACKEND_TRY(ReadOutputs(request));
  const std::string_view id_text = id;
  const std::string_view correlation_view = correlation_text;
  WireWriter out(&message_);
  out.Number(number);
  out.Number(correlation);
  out.Number(timeout_us);
  out.Number(flags);
  out.Number(uint32_t{trace != nullptr});
  out.Number(inputs);
  out.Number(static_cast<uint32_t>(id_text.size()));
  out.Number(is_text ? static_cast<uint32_t>(correlation_view.size()) : UINT32_MAX);
  out.Number(static_cast<uint32_t>(parameters_.size()));
  out.Number(static_cast<uint32_t>(outputs_.size()));
  out.Raw(id_text);
  out.Raw(correlation_view);
  out.Raw(parameters_);
  out.Raw(outputs_);
  return {};
}

Error BatchMessage::AddInput(const Input& input) {
  NEREID_BACKEND_TRY(backend::CheckInputSize(input));
  uint32_t block = 0;
  uint64_t place = 0;
  NEREID_BACKEND_TRY(FindBlock(input, &block, &place));
  if (block != 0) {
    Describe(input, block, place);
    return {};
  }
  Placed tensor{input};
  NEREID_BACKEND_TRY(FindGpu(input, &tensor.gpu));
  if (tensor.gpu >= 0) {
    has_gpu_tensors_ = true;
  } else if (input.byte_size <= kMaxInlineTensor &&
             message_data_ + input.byte_size <= kMaxMessageData) {
    tensor.in_message = true;
    tensor.offset = Align(message_data_, kMessageAlignment);
    message_data_ = tensor.offset + input.byte_size;
  } else {
    NEREID_BACKEND_TRY(PlaceOnHost(&tensor));
  }
  tensor.segment_field = Describe(input, 0, tensor.offset);
  placed_.push_back(std::move(tensor));
  return {};
}

Error BatchMessage::PlaceOnHost(Placed* tensor) {
  tensor->gpu = -1;
  tensor->offset = Align(segment_data_, kTensorAlignment);
  if (tensor->input.byte_size > (uint64_t{1} << 62) - tensor->offset) {
    return Error::InvalidArgument("input '" + std::string(tensor->input.name) + "' is too large");
  }
  segment_data_ = tensor->offset + tensor->input.byte_size;
  return {};
}

Error BatchMessage::FindGpu(const Input& input, int* gpu) const {
  *gpu = -1;
  // BYTES are decoded in host memory.
  if (!memory_.gpu_inputs || input.byte_size == 0 || input.data_type == TRITONSERVER_TYPE_BYTES) {
    return {};
  }
  for (uint32_t i = 0; i < input.buffer_count; ++i) {
    backend::InputPiece piece;
    NEREID_BACKEND_TRY(backend::ReadPiece(input, i, &piece));
    if (i > 0 && piece.gpu != *gpu) {
      *gpu = -1;
      return {};
    }
    *gpu = piece.gpu;
  }
  if (*gpu >= 0 && FindSharedGpu(*gpu) == nullptr) {
    *gpu = -1;
  }
  return {};
}

size_t BatchMessage::Describe(const Input& input, uint32_t segment, uint64_t offset) {
  WireWriter out(&message_);
  out.Number(static_cast<uint32_t>(input.data_type));
  out.Number(static_cast<uint32_t>(input.shape.size()));
  const std::string_view name = input.name;
  out.Number(static_cast<uint32_t>(name.size()));
  const size_t segment_field = out.size();
  out.Number(segment);
  out.Number(offset);
  out.Number(input.byte_size);
  out.Raw(name);
  for (const int64_t dim : input.shape) {
    out.Number(dim);
  }
  return segment_field;
}

Error BatchMessage::FindBlock(const Input& input, uint32_t* segment, uint64_t* offset) {
  if (memory_.arena == nullptr || input.buffer_count != 1 || input.byte_size <= kMaxInlineTensor) {
    return {};
  }
  backend::InputPiece piece;
  NEREID_BACKEND_TRY(backend::ReadPiece(input, 0, &piece));
  std::shared_ptr<InputBlock> block =
      piece.gpu >= 0 ? nullptr : memory_.arena->Find(piece.data, input.byte_size);
  if (block == nullptr || piece.size != input.byte_size) {
    return {};
  }
  const auto begin = static_cast<uint64_t>(piece.data - block->data());
  // The inputs of a request share a block.
  if (segments_.empty() || segments_.back().block != block) {
    TakenSegment taken;
    segments_.reserve(segments_.size() + 1);
    if (!memory_.segments->pool.TakeBlock(std::move(block), &taken)) {
      return {};
    }
    segments_.push_back(std::move(taken));
  }
  *segment = segments_.back().id;
  *offset = begin;
  return {};
}

void BatchMessage::FreeSegmentsBehind(size_t count) {
  while (segments_.size() > count) {
    memory_.segments->pool.Return(segments_.back());
    segments_.pop_back();
  }
}

void BatchMessage::FreeSegments() { FreeSegmentsBehind(0); }

Error BatchMessage::TakeOnGpus() {
  std::map<int, uint64_t> sizes;
  for (Placed& tensor : placed_) {
    if (tensor.gpu >= 0) {
      uint64_t& size = sizes[tensor.gpu];
      tensor.offset = Align(size, kTensorAlignment);
      // Sums of what GPUs have do not overflow.
      size = tensor.offset + tensor.input.byte_size;
    }
  }
  for (const auto& [gpu, size] : sizes) {
    TakenSegment taken;
    segments_.reserve(segments_.size() + 1);
    const Error refused = memory_.segments->pool.Take(size, &taken, gpu);
    if (refused.ok()) {
      segments_.push_back(taken);
    } else {
      NEREID_BACKEND_LOG(
          VERBOSE, "inputs of a Python model are copied to host memory: " + refused.message());
    }
    WireWriter out(&message_);
    for (Placed& tensor : placed_) {
      if (tensor.gpu != gpu) {
        continue;
      }
      if (refused.ok()) {
        tensor.memory = taken.memory;
        out.Patch(tensor.segment_field, taken.id);
      } else {
        NEREID_BACKEND_TRY(PlaceOnHost(&tensor));
      }
      out.Patch(tensor.segment_field + sizeof(uint32_t), tensor.offset);
    }
  }
  return {};
}

Error BatchMessage::CopyTo(Place place, const Input& input, Copies* copies) const {
  bool on_gpu = place.gpu >= 0;
  if (!on_gpu) {
    NEREID_BACKEND_TRY(backend::CopyInput(input, place.data, &on_gpu));
  }
  uint64_t copied = 0;
  for (uint32_t i = 0; on_gpu && i < input.buffer_count; ++i) {
    backend::InputPiece piece;
    NEREID_BACKEND_TRY(backend::ReadPiece(input, i, &piece));
    if (piece.size > input.byte_size - copied) {
      return Error::InvalidArgument("input '" + std::string(input.name) +
                                    "' has more bytes than its shape needs");
    }
    NEREID_BACKEND_TRY(
        copies->Add({place.data + copied, place.gpu}, piece.data, piece.gpu, piece.size));
    copied += piece.size;
  }
  if (on_gpu && copied != input.byte_size) {
    return Error::InvalidArgument("input '" + std::string(input.name) +
                                  "' has fewer bytes than its shape needs");
  }
  return {};
}

Error BatchMessage::Finish() {
  if (has_gpu_tensors_) {
    NEREID_BACKEND_TRY(TakeOnGpus());
  }
  TakenSegment copied;
  if (segment_data_ != 0) {
    segments_.reserve(segments_.size() + 1);
    NEREID_BACKEND_TRY(memory_.segments->pool.Take(segment_data_, &copied));
    segments_.push_back(copied);
  }
  const uint64_t data_begin = Align(message_.size(), kMessageAlignment);
  if (data_begin > UINT32_MAX - kMaxMessage) {
    return Error::InvalidArgument("the requests have more than 4 GiB of names and parameters");
  }
  message_.resize(data_begin + message_data_);
  WireWriter out(&message_);
  out.Patch(count_field_, count_);
  out.Patch(count_field_ + sizeof(uint32_t), static_cast<uint32_t>(data_begin));
  Copies copies(&memory_.segments->streams);
  for (const Placed& tensor : placed_) {
    Place place{message_.data() + data_begin + tensor.offset, -1};
    if (tensor.gpu >= 0) {
      place = {tensor.memory->data() + tensor.offset, tensor.gpu};
    } else if (!tensor.in_message) {
      place.data = copied.memory->data() + tensor.offset;
      out.Patch(tensor.segment_field, copied.id);
    }
    NEREID_BACKEND_TRY(CopyTo(place, tensor.input, &copies));
  }
  return copies.Wait();
}

}  // namespace nereid::python

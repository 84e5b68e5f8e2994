// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "nereid/backend/aligned_buffer.h"
#include "nereid/backend/data_type.h"
#include "nereid/backend/error.h"
#include "triton/core/tritonbackend.h"

namespace nereid::backend {

/// An input tensor of a request. All pointers belong to the request and are valid until it is
/// released.
struct Input {
  TRITONBACKEND_Input* handle = nullptr;
  const char* name = nullptr;
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
  /// With the batch dimension if the model has one.
  std::span<const int64_t> shape;
  uint64_t byte_size = 0;
  uint32_t buffer_count = 0;
};

/// A contiguous part of an input.
struct InputPiece {
  const char* data = nullptr;
  uint64_t size = 0;
  /// The ordinal of the GPU in whose memory the part is; -1 for host memory.
  int gpu = -1;
};

/// Reads where a part of an input is. `index` is below input.buffer_count.
inline Error ReadPiece(const Input& input, uint32_t index, InputPiece* piece) {
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  int64_t type_id = 0;
  const void* base = nullptr;
  NEREID_BACKEND_TRY(
      TRITONBACKEND_InputBuffer(input.handle, index, &base, &piece->size, &type, &type_id));
  piece->data = static_cast<const char*>(base);
  piece->gpu = type == TRITONSERVER_MEMORY_GPU ? static_cast<int>(type_id) : -1;
  return {};
}

namespace input_detail {

inline Error Describe(TRITONBACKEND_Input* handle, Input* input) {
  const int64_t* shape = nullptr;
  uint32_t rank = 0;
  NEREID_BACKEND_TRY(TRITONBACKEND_InputProperties(handle, &input->name, &input->data_type, &shape,
                                                   &rank, &input->byte_size, &input->buffer_count));
  input->handle = handle;
  input->shape = {shape, rank};
  return {};
}

/// Reads a part that must be in host memory. If it is not, sets `*on_gpu` and returns no error, or
/// returns UNSUPPORTED if `on_gpu` is null.
inline Error HostPiece(const Input& input, uint32_t index, InputPiece* piece, bool* on_gpu) {
  NEREID_BACKEND_TRY(ReadPiece(input, index, piece));
  if (piece->gpu < 0) {
    return {};
  }
  if (on_gpu != nullptr) {
    *on_gpu = true;
    return {};
  }
  return Error::Unsupported("input '" + std::string(input.name) +
                            "' is in GPU memory; this backend reads CPU memory");
}

inline Error WrongSize(const Input& input, const std::string& found) {
  return Error::InvalidArgument("input '" + std::string(input.name) + "' has " + found +
                                " bytes, but its shape " + ShapeText(input.shape) + " of " +
                                TRITONSERVER_DataTypeString(input.data_type) + " needs " +
                                std::to_string(TensorByteSize(input.data_type, input.shape)));
}

}  // namespace input_detail

/// Finds an input by its name. Fails if the request has no such input.
inline Error FindInput(TRITONBACKEND_Request* request, const char* name, Input* input) {
  TRITONBACKEND_Input* handle = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_RequestInput(request, name, &handle));
  return input_detail::Describe(handle, input);
}

/// Finds an input that the request may omit. `input->handle` is null if it is absent.
inline Error FindOptionalInput(TRITONBACKEND_Request* request, const char* name, Input* input) {
  *input = Input();
  TRITONBACKEND_Input* handle = nullptr;
  const Error absent(TRITONBACKEND_RequestInput(request, name, &handle));
  return absent.ok() ? input_detail::Describe(handle, input) : Error();
}

/// Returns the input with this index in the request. Fails if the request has fewer inputs.
inline Error InputAt(TRITONBACKEND_Request* request, uint32_t index, Input* input) {
  TRITONBACKEND_Input* handle = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_RequestInputByIndex(request, index, &handle));
  return input_detail::Describe(handle, input);
}

/// Checks that the size in bytes matches shape and type; for BYTES, that there is room for the
/// length fields. INVALID_ARG otherwise.
inline Error CheckInputSize(const Input& input) {
  const int64_t count = ElementCount(input.shape);
  const std::string name = input.name;
  if (count < 0) {
    return Error::InvalidArgument("input '" + name + "' has the impossible shape " +
                                  ShapeText(input.shape));
  }
  if (input.data_type == TRITONSERVER_TYPE_BYTES) {
    if (static_cast<uint64_t>(count) > input.byte_size / sizeof(uint32_t)) {
      return Error::InvalidArgument("input '" + name + "' has " + std::to_string(input.byte_size) +
                                    " bytes, too few for the " + std::to_string(count) +
                                    " elements of its shape " + ShapeText(input.shape));
    }
    return {};
  }
  const int64_t expected = TensorByteSize(input.data_type, input.shape);
  if (expected < 0 || static_cast<uint64_t>(expected) != input.byte_size) {
    return input_detail::WrongSize(input, std::to_string(input.byte_size));
  }
  return {};
}

/// Copies the tensor to `out`, which must have room for input.byte_size bytes. If a part of it is
/// in GPU memory, sets `*on_gpu` and returns without an error; UNSUPPORTED if `on_gpu` is null.
inline Error CopyInput(const Input& input, char* out, bool* on_gpu = nullptr) {
  uint64_t copied = 0;
  for (uint32_t i = 0; i < input.buffer_count; ++i) {
    InputPiece piece;
    NEREID_BACKEND_TRY(input_detail::HostPiece(input, i, &piece, on_gpu));
    if (piece.gpu >= 0) {
      return {};
    }
    if (piece.size > input.byte_size - copied) {
      return input_detail::WrongSize(input, "more than " + std::to_string(input.byte_size));
    }
    if (piece.size != 0) {
      std::memcpy(out + copied, piece.data, piece.size);
    }
    copied += piece.size;
  }
  if (copied != input.byte_size) {
    return input_detail::WrongSize(input, std::to_string(copied));
  }
  return {};
}

/// Computes the shape of tensors that are concatenated along the batch dimension. The other
/// dimensions must be equal. `shape` is replaced.
inline Error ConcatenatedShape(std::span<const Input> inputs, std::vector<int64_t>* shape) {
  const std::span<const int64_t> first = inputs[0].shape;
  shape->assign(first.begin(), first.end());
  for (const Input& input : inputs) {
    if (input.shape.empty()) {
      return Error::InvalidArgument("input '" + std::string(input.name) +
                                    "' lacks the batch dimension");
    }
  }
  for (const Input& input : inputs.subspan(1)) {
    if (!std::equal(first.begin() + 1, first.end(), input.shape.begin() + 1, input.shape.end())) {
      return Error::InvalidArgument("the requests of the batch have different shapes of input '" +
                                    std::string(input.name) + "': " + ShapeText(first) + " and " +
                                    ShapeText(input.shape));
    }
    if (__builtin_add_overflow((*shape)[0], input.shape[0], shape->data())) {
      return Error::InvalidArgument("input '" + std::string(input.name) + "' is too large");
    }
  }
  return {};
}

/// Computes the shape of concatenated ragged tensors: one dimension with all elements of all
/// requests. `shape` is replaced.
inline Error FlattenedShape(std::span<const Input> inputs, std::vector<int64_t>* shape) {
  int64_t total = 0;
  for (const Input& input : inputs) {
    const int64_t count = ElementCount(input.shape);
    if (count < 0 || __builtin_add_overflow(total, count, &total)) {
      return Error::InvalidArgument("input '" + std::string(input.name) +
                                    "' has the impossible shape " + ShapeText(input.shape));
    }
  }
  shape->assign(1, total);
  return {};
}

/// The bytes of a tensor, or of the concatenated tensors of several requests.
struct Gathered {
  /// Never null. Belongs to the request if `borrowed`, otherwise to the scratch buffer.
  const char* data = nullptr;
  uint64_t size = 0;
  bool borrowed = false;
};

/// Puts the tensors of a batch into contiguous memory. A single tensor in one CPU buffer that is
/// aligned to `alignment` (a power of two) is used in place. Otherwise the tensors are copied to
/// `scratch`, an AlignedBuffer or an object with the same function Reserve. If a tensor is in GPU
/// memory, sets `*on_gpu` and returns without an error and without a result; UNSUPPORTED if
/// `on_gpu` is null.
template <typename Scratch>
Error GatherInputs(std::span<const Input> inputs, size_t alignment, Scratch* scratch,
                   Gathered* gathered, bool* on_gpu = nullptr) {
  if (inputs.size() == 1 && inputs[0].buffer_count == 1) {
    InputPiece piece;
    NEREID_BACKEND_TRY(input_detail::HostPiece(inputs[0], 0, &piece, on_gpu));
    if (piece.gpu >= 0) {
      return {};
    }
    if (piece.size != inputs[0].byte_size) {
      return input_detail::WrongSize(inputs[0], std::to_string(piece.size));
    }
    if (piece.size != 0 && (reinterpret_cast<uintptr_t>(piece.data) & (alignment - 1)) == 0) {
      *gathered = {piece.data, piece.size, true};
      return {};
    }
  }
  uint64_t total = 0;
  for (const Input& input : inputs) {
    if (__builtin_add_overflow(total, input.byte_size, &total)) {
      return Error::InvalidArgument("input '" + std::string(input.name) + "' is too large");
    }
  }
  char* out = scratch->Reserve(total);
  *gathered = {out, total, false};
  for (const Input& input : inputs) {
    NEREID_BACKEND_TRY(CopyInput(input, out, on_gpu));
    if (on_gpu != nullptr && *on_gpu) {
      return {};
    }
    out += input.byte_size;
  }
  return {};
}

}  // namespace nereid::backend

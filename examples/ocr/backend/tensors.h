// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "image.h"
#include "nereid/backend/aligned_buffer.h"
#include "nereid/backend/batch.h"
#include "nereid/backend/error.h"

// How the steps read a request's inputs and write its outputs. Every step takes one request at a
// time, so nothing here joins or splits a batch; the kit's batch_input.h and batch_output.h do.

namespace nereid::ocr {

/// An input in one piece. Shape and data belong to the request, or the data to the scratch memory.
struct Tensor {
  std::span<const int64_t> shape;
  const char* data = nullptr;

  const float* floats() const { return reinterpret_cast<const float*>(data); }
};

/// Finds the input and checks that it has that type, `rank` dimensions, none negative, and as many
/// bytes as these need. What the dimensions may be is for the caller to say. An input that came in
/// several pieces is put together in `scratch`, otherwise it stays where it is.
backend::Error ReadTensor(const backend::BatchMember& member, const char* name,
                          TRITONSERVER_DataType type, size_t rank, backend::AlignedBuffer* scratch,
                          Tensor* tensor);

/// Reads the input 'image', [rows, columns, 3].
backend::Error ReadImage(const backend::BatchMember& member, backend::AlignedBuffer* scratch,
                         Image* image);

/// Makes an output; `*floats` belongs to the response, and is written by the caller.
backend::Error AllocateFloats(const backend::BatchMember& member, const char* name,
                              std::span<const int64_t> shape, float** floats);

backend::Error WriteFloats(const backend::BatchMember& member, const char* name,
                           std::span<const int64_t> shape, const std::vector<float>& values);

/// Writes an output of the type BYTES and one dimension.
backend::Error WriteTexts(const backend::BatchMember& member, const char* name,
                          const std::vector<std::string>& texts);

/// Whether the request asks for the output. A request may ask for some outputs only, and a backend
/// need not compute, and must not send, the others.
bool Wants(const backend::BatchMember& member, std::string_view output);

}  // namespace nereid::ocr

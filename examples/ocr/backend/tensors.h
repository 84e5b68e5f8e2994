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

// How the steps read a request's inputs and write its outputs. Every step processes one request at
// a time, so nothing here joins or splits a batch; the kit's batch_input.h and batch_output.h do.

namespace nereid::ocr {

/// An input in one piece. Shape and data belong to the request, or the data to the scratch memory.
struct Tensor {
  std::span<const int64_t> shape;
  const char* data = nullptr;

  const float* floats() const { return reinterpret_cast<const float*>(data); }
};

/// Finds the input and checks that it has that type, `rank` dimensions, none of them negative, and
/// the number of bytes that these need. The caller checks the dimensions. An input in several
/// pieces is concatenated in `scratch`; otherwise it is not copied.
backend::Error ReadTensor(const backend::BatchMember& member, const char* name,
                          TRITONSERVER_DataType type, size_t rank, backend::AlignedBuffer* scratch,
                          Tensor* tensor);

/// Reads the input 'image', [rows, columns, 3].
backend::Error ReadImage(const backend::BatchMember& member, backend::AlignedBuffer* scratch,
                         Image* image);

/// Allocates an output. `*floats` belongs to the response; the caller writes it.
backend::Error AllocateFloats(const backend::BatchMember& member, const char* name,
                              std::span<const int64_t> shape, float** floats);

backend::Error WriteFloats(const backend::BatchMember& member, const char* name,
                           std::span<const int64_t> shape, const std::vector<float>& values);

/// Writes an output of type BYTES with one dimension.
backend::Error WriteTexts(const backend::BatchMember& member, const char* name,
                          const std::vector<std::string>& texts);

/// Returns whether the request asks for the output. A request may ask for some outputs only; a
/// backend need not compute the others, and must not send them.
bool Wants(const backend::BatchMember& member, std::string_view output);

}  // namespace nereid::ocr

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Divides an output of a whole batch into the parts of its requests.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nereid/backend/data_type.h"
#include "nereid/backend/error.h"

namespace nereid::backend {

/// The part of an output that belongs to one request: `count` elements beginning with element
/// `first`.
struct OutputPart {
  std::vector<int64_t> shape;
  int64_t first = 0;
  int64_t count = 0;
};

namespace batch_output_detail {

/// Sets `first` and `count` of the parts from their shapes, and checks that the parts use exactly
/// `total` elements.
inline Error PlaceParts(const std::string& name, int64_t total, std::vector<OutputPart>* parts) {
  int64_t end = 0;
  for (OutputPart& part : *parts) {
    part.first = end;
    part.count = ElementCount(part.shape);
    if (part.count < 0 || __builtin_add_overflow(end, part.count, &end)) {
      return Error::Internal("output '" + name + "' has the impossible shape " +
                             ShapeText(part.shape));
    }
  }
  if (end != total) {
    return Error::Internal("output '" + name + "' has " + std::to_string(total) +
                           " elements, but the " + std::to_string(parts->size()) +
                           " requests of the batch need " + std::to_string(end));
  }
  return {};
}

}  // namespace batch_output_detail

/// Computes the parts for BATCH_SCATTER_WITH_INPUT_SHAPE. `dims` is the output's shape in the
/// configuration, preceded by -1 for the batch. Each -1 is replaced by the same dimension of the
/// request's source input; `sources` are their shapes with batch dimension. `total` is the number
/// of elements that the model returned, all of which must be used. `parts` is replaced, and its
/// memory reused.
inline Error ScatterWithInputShape(const std::string& name, std::span<const int64_t> dims,
                                   std::span<const std::span<const int64_t>> sources, int64_t total,
                                   std::vector<OutputPart>* parts) {
  parts->resize(sources.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    std::vector<int64_t>& shape = (*parts)[i].shape;
    shape.assign(dims.begin(), dims.end());
    for (size_t k = 0; k < shape.size(); ++k) {
      if (shape[k] != -1) {
        continue;
      }
      if (k >= sources[i].size()) {
        return Error::InvalidArgument(
            "output '" + name + "' of shape " + ShapeText(dims) + " takes dimension " +
            std::to_string(k) + " of its source input, whose shape is " + ShapeText(sources[i]));
      }
      shape[k] = sources[i][k];
    }
  }
  return batch_output_detail::PlaceParts(name, total, parts);
}

/// Computes the parts of an ordinary output. `shape` is the shape of the whole output, whose first
/// dimension must be the sum of `batch_sizes` (one for each request). `parts` is replaced, and its
/// memory reused.
inline Error ScatterAlongBatch(const std::string& name, std::span<const int64_t> shape,
                               std::span<const int64_t> batch_sizes,
                               std::vector<OutputPart>* parts) {
  if (shape.empty()) {
    return Error::Internal("output '" + name + "' lacks the batch dimension");
  }
  parts->resize(batch_sizes.size());
  for (size_t i = 0; i < batch_sizes.size(); ++i) {
    (*parts)[i].shape.assign(shape.begin(), shape.end());
    (*parts)[i].shape[0] = batch_sizes[i];
  }
  return batch_output_detail::PlaceParts(name, ElementCount(shape), parts);
}

}  // namespace nereid::backend

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Cutting an output of a whole batch into the parts of its requests.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nereid/backend/data_type.h"
#include "nereid/backend/error.h"

namespace nereid::backend {

/// One request's part of an output: `count` elements from element `first` on, of shape `shape`.
struct OutputPart {
  std::vector<int64_t> shape;
  int64_t first = 0;
  int64_t count = 0;
};

namespace batch_output_detail {

/// Counts and places the parts, whose shapes are set, and checks that they use all elements.
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

/// BATCH_SCATTER_WITH_INPUT_SHAPE. `dims` is the output's shape in the configuration, with -1 in
/// front for the batch; each -1 takes the same dimension of the request's source input, whose
/// shapes (with the batch dimension) are `sources`. `total` is the number of elements that the
/// model gave; the parts must use all of them. `parts` is replaced, its memory used again.
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

/// The usual way: `shape` is the whole output's shape, whose first dimension is the sum of
/// `batch_sizes`, one for each request. `parts` is replaced, its memory used again.
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

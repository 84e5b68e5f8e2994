// SPDX-License-Identifier: Apache-2.0
#pragma once

// Builds the tensors that describe a whole batch (`batch_input` of a model configuration). Ragged
// inputs are concatenated without marks between the requests; these tensors tell the model where
// each request's part ends.
//
// For R requests, where e_r is the number of elements of request r's source input (batch dimension
// included) and B_r its batch size:
//
//   BATCH_ELEMENT_COUNT                        [R]                    e_1, e_2, …
//   BATCH_ACCUMULATED_ELEMENT_COUNT            [R]                    e_1, e_1+e_2, …
//   BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO  [R+1]                  0, e_1, e_1+e_2, …
//   BATCH_MAX_ELEMENT_COUNT_AS_SHAPE           [max e_r]              zeros; only the shape matters
//   BATCH_ITEM_SHAPE                           [sum B_r, rank-1]      each item's dims, B_r times
//   BATCH_ITEM_SHAPE_FLATTEN                   [(sum B_r)*(rank-1)]   the same, flat

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nereid/backend/aligned_buffer.h"
#include "nereid/backend/data_type.h"
#include "nereid/backend/error.h"
#include "nereid/backend/model_config.h"

namespace nereid::backend {

using ShapeView = std::span<const int64_t>;

namespace batch_input_detail {

inline Error TooLarge(const BatchInputConfig& input) {
  return Error::InvalidArgument("the batch of input '" + input.source +
                                "' is too large for its batch_input");
}

/// Appends the element count of each source to `counts`. Fails for an impossible shape or if the
/// sum overflows.
inline Error CountElements(const BatchInputConfig& input, std::span<const ShapeView> sources,
                           std::vector<int64_t>* counts) {
  int64_t total = 0;
  for (const ShapeView shape : sources) {
    const int64_t count = ElementCount(shape);
    if (count < 0) {
      return Error::InvalidArgument("input '" + input.source + "' has the impossible shape " +
                                    ShapeText(shape));
    }
    if (__builtin_add_overflow(total, count, &total)) {
      return TooLarge(input);
    }
    counts->push_back(count);
  }
  return {};
}

/// Appends the dimensions of each item as one row. Sets `*rows` and `*columns`.
inline Error ListItemShapes(const BatchInputConfig& input, std::span<const ShapeView> sources,
                            std::vector<int64_t>* values, int64_t* rows, int64_t* columns) {
  *rows = 0;
  *columns = 0;
  for (const ShapeView shape : sources) {
    if (shape.empty() || shape.size() != sources[0].size()) {
      return Error::InvalidArgument("batch_input of '" + input.source +
                                    "' lists the shapes of items, which needs one rank above 0 in "
                                    "all requests, not " +
                                    ShapeText(sources[0]) + " and " + ShapeText(shape));
    }
    *columns = static_cast<int64_t>(shape.size()) - 1;
    // An item without elements costs the client no bytes, so without this limit a client could
    // request any number of rows.
    constexpr int64_t kMaxValues = int64_t{1} << 24;
    int64_t more = 0;
    if (__builtin_add_overflow(*rows, shape[0], rows) ||
        __builtin_mul_overflow(*rows, std::max<int64_t>(*columns, 1), &more) || more > kMaxValues) {
      return TooLarge(input);
    }
    for (int64_t item = 0; item < shape[0]; ++item) {
      values->insert(values->end(), shape.begin() + 1, shape.end());
    }
  }
  return {};
}

/// Writes the values as elements of type T.
template <typename T>
void Write(std::span<const int64_t> values, char* out) {
  std::transform(values.begin(), values.end(), reinterpret_cast<T*>(out),
                 [](int64_t value) { return static_cast<T>(value); });
}

}  // namespace batch_input_detail

/// Computes the values and the shape of a batch input. `room` is the fixed size that the model
/// gives to the tensor, or -1. With a fixed size, tensors of counts are padded to it: element
/// counts with zeros, accumulated counts with the last sum. `shape` and `values` are replaced.
/// There are no values for kMaxElementCountAsShape.
inline Error DescribeBatch(const BatchInputConfig& input, std::span<const ShapeView> sources,
                           int64_t room, std::vector<int64_t>* shape,
                           std::vector<int64_t>* values) {
  using Kind = BatchInputKind;
  values->clear();
  std::vector<int64_t> counts;
  NEREID_BACKEND_TRY(batch_input_detail::CountElements(input, sources, &counts));
  int64_t filler = 0;
  switch (input.kind) {
    case Kind::kElementCount:
      *values = std::move(counts);
      break;
    case Kind::kAccumulatedElementCountWithZero:
      values->push_back(0);
      [[fallthrough]];
    case Kind::kAccumulatedElementCount:
      for (const int64_t count : counts) {
        values->push_back(filler += count);
      }
      break;
    case Kind::kMaxElementCountAsShape:
      shape->assign(1, counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end()));
      return {};
    case Kind::kItemShape:
    case Kind::kItemShapeFlatten: {
      int64_t rows = 0;
      int64_t columns = 0;
      NEREID_BACKEND_TRY(
          batch_input_detail::ListItemShapes(input, sources, values, &rows, &columns));
      *shape = {rows, columns};
      if (input.kind == Kind::kItemShapeFlatten) {
        shape->assign(1, rows * columns);
      }
      return {};
    }
    case Kind::kUnknown:
      return Error::Unsupported("batch_input of '" + input.source + "' has an unknown kind");
  }
  const auto size = static_cast<int64_t>(values->size());
  if (room >= 0 && size > room) {
    return Error::InvalidArgument("the batch has " + std::to_string(sources.size()) +
                                  " requests, but the batch_input of '" + input.source +
                                  "' has room for " + std::to_string(room) + " values only");
  }
  values->resize(static_cast<size_t>(std::max(size, room)), filler);
  shape->assign(1, static_cast<int64_t>(values->size()));
  return {};
}

/// Writes the content of a batch input to `buffer` and sets `*shape` and `*size`, in bytes. The
/// elements are INT32 or FP32 in the machine's byte order. `sources` are the shapes of the
/// requests' source inputs, with batch dimension. INVALID_ARG if a number does not fit. FP32 rounds
/// counts above 2^24.
inline Error MakeBatchInput(const BatchInputConfig& input, std::span<const ShapeView> sources,
                            int64_t room, AlignedBuffer* buffer, std::vector<int64_t>* shape,
                            size_t* size) {
  std::vector<int64_t> values;
  NEREID_BACKEND_TRY(DescribeBatch(input, sources, room, shape, &values));
  const int64_t bytes = TensorByteSize(TRITONSERVER_TYPE_INT32, *shape);
  const int64_t largest = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  const bool integers = input.data_type == TRITONSERVER_TYPE_INT32;
  if (bytes < 0 || (integers && largest > INT32_MAX)) {
    return batch_input_detail::TooLarge(input);
  }
  if (!integers && input.data_type != TRITONSERVER_TYPE_FP32) {
    return Error::Unsupported("batch_input of '" + input.source +
                              "' must be of type TYPE_INT32 or TYPE_FP32");
  }
  *size = static_cast<size_t>(bytes);
  char* out = buffer->Reserve(*size);
  if (input.kind == BatchInputKind::kMaxElementCountAsShape) {
    std::fill_n(out, *size, '\0');  // the scratch memory holds data of earlier requests
  } else if (integers) {
    batch_input_detail::Write<int32_t>(values, out);
  } else {
    batch_input_detail::Write<float>(values, out);
  }
  return {};
}

}  // namespace nereid::backend

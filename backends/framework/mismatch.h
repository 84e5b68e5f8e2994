// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "nereid/backend/error.h"
#include "triton/core/tritonserver.h"

/// Errors for a configuration that does not match the model, with the texts of Triton's backends,
/// which tools compare. `model` is the model's name, `kind` is "input", "output" or similar, and
/// `dims` and `shape` include the batch dimension if there is one.
namespace nereid::framework {

using backend::Error;

Error WrongInputCount(const std::string& model, size_t configured, size_t provided);

/// `kind` is "input" or "output". `allowed` are the names in the model.
Error UnexpectedTensor(const std::string& kind, const std::string& name,
                       const std::set<std::string>& allowed);

Error WrongType(const std::string& model, const std::string& kind, const std::string& name,
                TRITONSERVER_DataType configured, TRITONSERVER_DataType provided);

/// `batching` means that max_batch_size is above 0, so that `dims` begins with the batch dimension.
Error WrongShape(const std::string& model, const std::string& name,
                 const std::vector<int64_t>& shape, const std::vector<int64_t>& dims,
                 bool batching);

/// For a tensor without a variable first dimension in a model whose max_batch_size is above 0.
Error NoBatchDimension(const std::string& model, const std::string& name,
                       const std::vector<int64_t>& shape);

/// For a scalar tensor whose configured dims are not 1.
Error WrongScalar(const std::string& model, const std::string& name,
                  const std::vector<int64_t>& dims);

/// Returns the names of tensors, for UnexpectedTensor.
template <typename Tensor>
std::set<std::string> NamesOf(const std::vector<Tensor>& tensors) {
  std::set<std::string> names;
  for (const Tensor& tensor : tensors) {
    names.insert(tensor.name);
  }
  return names;
}

}  // namespace nereid::framework

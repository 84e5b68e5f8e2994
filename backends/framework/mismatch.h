// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "nereid/backend/error.h"
#include "triton/core/tritonserver.h"

/// What a configuration and a model that disagree are told, in the words of Triton's own backends:
/// tools compare them. `model` is the model's name, `dims` and `shape` come with the batch
/// dimension where there is one, `kind` is "input", "output" or the like.
namespace nereid::framework {

using backend::Error;

Error WrongInputCount(const std::string& model, size_t configured, size_t provided);

/// `kind`: "input" or "output". `allowed`: the names that the model has.
Error UnexpectedTensor(const std::string& kind, const std::string& name,
                       const std::set<std::string>& allowed);

Error WrongType(const std::string& model, const std::string& kind, const std::string& name,
                TRITONSERVER_DataType configured, TRITONSERVER_DataType provided);

/// `batching`: the configuration's max_batch_size is above 0, and `dims` begins with the batch.
Error WrongShape(const std::string& model, const std::string& name,
                 const std::vector<int64_t>& shape, const std::vector<int64_t>& dims,
                 bool batching);

/// For a model whose tensor has no variable first dimension, under a max_batch_size above 0.
Error NoBatchDimension(const std::string& model, const std::string& name,
                       const std::vector<int64_t>& shape);

/// For a scalar under dims other than 1.
Error WrongScalar(const std::string& model, const std::string& name,
                  const std::vector<int64_t>& dims);

/// The names of tensors, for UnexpectedTensor.
template <typename Tensor>
std::set<std::string> NamesOf(const std::vector<Tensor>& tensors) {
  std::set<std::string> names;
  for (const Tensor& tensor : tensors) {
    names.insert(tensor.name);
  }
  return names;
}

}  // namespace nereid::framework

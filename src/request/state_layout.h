// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/sequence_batching.h"
#include "tensor/shape.h"

namespace nereid::request {

/// The states of a model: their configuration and their initial bytes. Created when the model is
/// loaded; immutable.
class StateLayout {
 public:
  struct Entry {
    config::StateSpec spec;
    tensor::Shape full_dims;      // the dims as a backend writes them: with a batch dimension of 1
                                  // in front if the model batches
    tensor::Shape initial_shape;  // full_dims with 1 for every variable dimension
    std::string initial_bytes;    // in initial_shape; empty: zeros
    // Bytes of initial_shape; for BYTES without a file those of empty elements.
    size_t initial_size = 0;
  };

  /// Reads the files of the initial states from `model_directory`/initial_state. Returns
  /// INVALID_ARGUMENT, naming the model, the state, the file and the sizes, if a file does not fit.
  static base::Result<std::shared_ptr<const StateLayout>> Create(
      const std::string& model_name, const std::vector<config::StateSpec>& states, bool batching,
      const std::string& model_directory);

  const std::string& model_name() const { return model_name_; }
  const std::vector<Entry>& entries() const { return entries_; }
  /// Returns the index of the state with this output name, or entries().size() if there is none.
  size_t FindOutput(std::string_view name) const;

 private:
  std::string model_name_;
  std::vector<Entry> entries_;
};

}  // namespace nereid::request

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/name_index.h"
#include "request/classify.h"

namespace nereid::codec::json {

/// The form in which the client wants the outputs of one request.
class OutputOptions {
 public:
  /// Returns whether an output goes into the binary part of the response: the output's own
  /// binary_data, else the request's binary_data_output.
  bool IsBinary(std::string_view output) const;

  void Clear();
  void set_all_binary(bool binary) { all_binary_ = binary; }
  /// Sets binary_data of an output; the last call for an output counts.
  void SetBinary(std::string_view output, bool binary);

  /// Returns the outputs of which classes are wanted; a count of 0 asks for the tensor itself.
  const std::vector<request::RequestedClasses>& classifications() const { return classifications_; }
  void SetClassification(std::string_view output, uint64_t count);

 private:
  struct Choice {
    std::string output;
    bool binary;
  };
  std::vector<Choice> choices_;
  base::NameIndex choice_names_;
  std::vector<request::RequestedClasses> classifications_;
  base::NameIndex classification_names_;
  bool all_binary_ = false;
};

struct DecodeLimits {
  /// The maximum bytes of the JSON part, and of each input given as JSON (--http-max-input-size).
  uint64_t max_json_size = 67'108'864;
  /// The maximum number of inputs, and of outputs, of one request.
  size_t max_tensors = 4096;
  /// The maximum number of parameters for the backend in one request.
  size_t max_parameters = 4096;
  /// The maximum number of dimensions of one input.
  size_t max_dimensions = 256;
};

}  // namespace nereid::codec::json

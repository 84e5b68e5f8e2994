// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "request/sequence_inputs.h"
#include "request/testing/make_model.h"

namespace nereid::request {

/// What the server adds for a model with this in its sequence_batching; `batching`: with
/// max_batch_size 4. It has an input IN (FP32 [-1]), an optional one TEXT (STRING [-1]), and an
/// output OUT. Aborts the test program where that cannot be had.
inline std::shared_ptr<SequenceInputs> MakeSequenceInputs(const std::string& sequence,
                                                          bool batching = true,
                                                          const std::string& directory = "/none") {
  const auto model = MakeModel("name: \"m\" max_batch_size: " + std::string(batching ? "4" : "0") +
                               R"( input { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] }
          input { name: "TEXT" data_type: TYPE_STRING dims: [ -1 ] optional: true }
          output { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] }
          sequence_batching { )" +
                               sequence + " }");
  return SequenceInputs::Create(model->config, directory).value();
}

/// One state, from `S_IN` to `S_OUT`.
inline std::string StateText(const std::string& type, const std::string& dims,
                             const std::string& more = "") {
  return R"(state { input_name: "S_IN" output_name: "S_OUT" data_type: TYPE_)" + type +
         " dims: " + dims + " " + more + " }";
}

}  // namespace nereid::request

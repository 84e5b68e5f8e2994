// SPDX-License-Identifier: Apache-2.0
// Requests to a v2 server, over HTTP or gRPC.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/tools/infer/model_description.h"
#include "app/tools/remote/model_counters.h"
#include "app/tools/tensors/tensor.h"
#include "base/result.h"

namespace nereid::app::tools {

using ParameterValue = std::variant<bool, int64_t, double, std::string>;

/// One inference request.
struct InferCall {
  std::string model;
  std::string version;  // empty: the server chooses
  std::string id;
  std::vector<std::pair<std::string, ParameterValue>> parameters;
  std::vector<Tensor> inputs;
  std::vector<std::string> outputs;  // empty: all
  uint64_t classes = 0;              // the classification of each output; 0: the tensors
};

/// A request in the form of its protocol, to be sent any number of times.
struct EncodedCall {
  std::string path;      // begins with "/"; over gRPC that of the method
  std::string body;      // over gRPC with its length in front
  size_t json_size = 0;  // the JSON at the beginning of `body`; 0: no binary data follows
};

/// One response. Its tensors are consistent: CheckTensor has accepted them.
struct InferReply {
  std::string model, version, id;
  std::vector<Tensor> outputs;
};

class InferenceClient {
 public:
  virtual ~InferenceClient() = default;

  /// Asks for the model's metadata and, if the server shows it, its configuration.
  virtual base::Result<ModelDescription> Describe(const std::string& model,
                                                  const std::string& version) = 0;

  /// Encodes a request. `model` is what Describe has returned; a decoupled model gets the form that
  /// Stream sends.
  virtual base::Result<EncodedCall> Encode(const InferCall& call,
                                           const ModelDescription& model) const = 0;

  // Thread-safe: the next two send a request and wait. UNAVAILABLE with the server's text if the
  // server refuses it, INTERNAL for a response that cannot be read.

  virtual base::Result<InferReply> Infer(const EncodedCall& call) = 0;
  /// Calls `receive` for each response of a decoupled model as it arrives, until it returns false.
  virtual base::Status Stream(const EncodedCall& call, const ModelDescription& model,
                              const std::function<bool(InferReply)>& receive) = 0;

  /// Returns the statistics of all versions of a model, or of all models for an empty name.
  virtual base::Result<std::vector<ModelCounters>> Statistics(const std::string& model) = 0;
};

}  // namespace nereid::app::tools

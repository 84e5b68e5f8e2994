// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "config/model_config.h"
#include "memory/host_buffer.h"
#include "request/inference_request.h"
#include "request/sequence_inputs.h"
#include "schedule/batch.h"

namespace nereid::model {

/// One input of a warm-up request. All requests of a sample share its bytes.
struct WarmupInput {
  std::string name;
  tensor::DataType type = tensor::DataType::kInvalid;
  tensor::Shape shape;  // with a batch dimension of 1 in front if the model batches
  /// Whether the configuration has no input of that name: then it is a control or state tensor,
  /// which the backend gets unchecked.
  bool is_control = false;
  std::shared_ptr<const memory::HostBuffer> data;
};

/// One entry of model_warmup, ready to be made into requests.
struct WarmupSample {
  std::string name;
  uint32_t requests = 0;    // of batch size 1, in one execution
  uint32_t executions = 1;  // how often
  std::vector<WarmupInput> inputs;
};

/// Returns the content of a sample's file; the name is relative to the model's directory `warmup`.
using ReadWarmupFile = std::function<base::Result<std::string>(const std::string& name)>;

/// Returns the samples of the configuration's model_warmup, in order, without those of batch size
/// 0. Returns INVALID_ARGUMENT, with Triton's texts, for samples that cannot be built, and
/// UNAVAILABLE when memory is short. Random data is the same at every call: all values for
/// integers, 0 or 1 for BOOL, [0, 1) for floating point.
base::Result<std::vector<WarmupSample>> BuildWarmupSamples(const config::ModelConfig& config,
                                                           const ReadWarmupFile& read_file);

/// Reads `<model_directory>/warmup/<name>`. Returns UNSUPPORTED for a name that leads out of that
/// directory and INTERNAL if the file cannot be read.
base::Result<std::string> ReadWarmupDirectory(const std::string& model_directory,
                                              const std::string& name);

/// Returns the requests of one execution of the sample, normalized like a client's; their responses
/// go to `sink`. With `sequence`, each request is a sequence of its own, with the controls and
/// states that the sample does not give. Returns INVALID_ARGUMENT for a sample that does not fit
/// the model.
base::Result<std::vector<schedule::RequestPtr>> MakeWarmupRequests(
    const WarmupSample& sample, const std::shared_ptr<const request::ModelIdentity>& model,
    const std::shared_ptr<request::ResponseSink>& sink, uint64_t now_ns,
    const request::SequenceInputs* sequence = nullptr);

/// Runs all samples on one instance, one execution at a time, and returns after the last response.
/// Stops at the first execution that fails, with "failed to run warmup sample '<name>': <error>;
/// …".
base::Status RunWarmup(const std::vector<WarmupSample>& samples,
                       const std::shared_ptr<const request::ModelIdentity>& model,
                       const base::Clock& clock, schedule::BatchRunner& instance,
                       const request::SequenceInputs* sequence = nullptr);

}  // namespace nereid::model

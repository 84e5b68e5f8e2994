// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "app/tools/infer/inference_client.h"
#include "app/tools/remote/remote_server.h"

namespace nereid::app::tools {

/// The inference protocol over HTTP: JSON with binary tensors behind it, or JSON alone if the
/// server lacks that extension. The responses of decoupled models come from the generate extension.
class HttpInference final : public InferenceClient {
 public:
  explicit HttpInference(std::unique_ptr<RemoteServer> server) : server_(std::move(server)) {}

  base::Result<ModelDescription> Describe(const std::string& model,
                                          const std::string& version) override;
  base::Result<EncodedCall> Encode(const InferCall& call,
                                   const ModelDescription& model) const override;
  base::Result<InferReply> Infer(const EncodedCall& call) override;
  base::Status Stream(const EncodedCall& call, const ModelDescription& model,
                      const std::function<bool(InferReply)>& receive) override;
  base::Result<std::vector<ModelCounters>> Statistics(const std::string& model) override;

 private:
  const std::unique_ptr<RemoteServer> server_;
};

/// Reads a response: JSON of `json_size` bytes and the binary data behind it. INTERNAL if it is not
/// one, or if a tensor is not consistent.
base::Result<InferReply> DecodeInferReply(std::string_view body, size_t json_size);

/// Reads one event of the generate extension: the outputs of the model by name, flat. UNAVAILABLE
/// with the text of an event that is an error.
base::Result<InferReply> DecodeGenerateEvent(std::string_view json, const ModelDescription& model);

}  // namespace nereid::app::tools

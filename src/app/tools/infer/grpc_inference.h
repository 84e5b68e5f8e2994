// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "app/tools/infer/inference_client.h"
#include "app/tools/remote/remote_server.h"

namespace nereid::app::tools {

/// The inference protocol over gRPC, carried by libcurl's HTTP/2. A decoupled model is called with
/// a stream of one request.
class GrpcInference final : public InferenceClient {
 public:
  /// `server` speaks HTTP/2.
  explicit GrpcInference(std::unique_ptr<RemoteServer> server) : server_(std::move(server)) {}

  base::Result<ModelDescription> Describe(const std::string& model,
                                          const std::string& version) override;
  base::Result<EncodedCall> Encode(const InferCall& call,
                                   const ModelDescription& model) const override;
  base::Result<InferReply> Infer(const EncodedCall& call) override;
  base::Status Stream(const EncodedCall& call, const ModelDescription& model,
                      const std::function<bool(InferReply)>& receive) override;
  base::Result<std::vector<ModelCounters>> Statistics(const std::string& model) override;

 private:
  /// Calls a method with one message and visits the messages of the answer.
  base::Status Call(const std::string& path, const std::string& framed,
                    const std::function<base::Status(std::string_view message)>& visit);
  /// Calls a method that changes nothing; repeats the call if its answer was lost.
  template <typename Reply, typename Request>
  base::Status CallOnce(const char* method, const Request& request, Reply* reply);

  const std::unique_ptr<RemoteServer> server_;
};

}  // namespace nereid::app::tools

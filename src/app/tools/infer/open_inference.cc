// SPDX-License-Identifier: Apache-2.0
#include "app/tools/infer/open_inference.h"

#include "app/tools/infer/grpc_inference.h"
#include "app/tools/infer/http_inference.h"
#include "app/tools/remote/remote_server.h"

namespace nereid::app::tools {

base::Result<std::unique_ptr<InferenceClient>> OpenInference(const ToolArguments& arguments,
                                                             const ToolContext& context) {
  const std::string url = RemoteServer::UrlOf(arguments, context);
  if (IsGrpcUrl(url)) {
    NEREID_ASSIGN_OR_RETURN(ServerAddress address, ParseGrpcUrl(url));
    NEREID_ASSIGN_OR_RETURN(auto server,
                            RemoteServer::OpenAt(std::move(address), arguments, context));
    return std::unique_ptr<InferenceClient>(std::make_unique<GrpcInference>(std::move(server)));
  }
  NEREID_ASSIGN_OR_RETURN(auto server, RemoteServer::Open(arguments, context));
  return std::unique_ptr<InferenceClient>(std::make_unique<HttpInference>(std::move(server)));
}

}  // namespace nereid::app::tools

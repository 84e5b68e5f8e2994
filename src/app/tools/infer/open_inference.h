// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "app/tools/infer/inference_client.h"
#include "app/tools/tool.h"
#include "app/tools/tool_flags.h"
#include "base/result.h"

namespace nereid::app::tools {

/// --model-version, of tools that send requests.
inline constexpr ToolFlag kModelVersionFlag = {
    "model-version", "number or label", "The version of the model (default: the server chooses)"};

/// --url of the tools that send inference requests.
inline constexpr ToolFlag kInferenceUrlFlag = {
    "url", "url",
    "The server: http://host:port, https://host:port, grpc://host:port, grpcs://host:port or\n"
    "        unix:path (default NEREID_URL, else localhost:8000)"};

/// Makes the client that the flags ask for, over HTTP or gRPC. The environment, the other flags and
/// the errors are those of RemoteServer::Open.
base::Result<std::unique_ptr<InferenceClient>> OpenInference(const ToolArguments& arguments,
                                                             const ToolContext& context);

}  // namespace nereid::app::tools

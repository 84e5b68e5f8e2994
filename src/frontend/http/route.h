// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace nereid::frontend::http {

enum class Endpoint {
  kUnknown,
  kServerMetadata,
  kServerLive,
  kServerReady,
  kV1Live,        // of KServe's older protocol: GET /
  kV1ModelReady,  // likewise: GET /v1/models/M
  kModelMetadata,
  kModelReady,
  kModelConfig,
  kStatistics,
  kSequences,
  kInfer,
  kGenerate,
  kGenerateStream,
  kTraceSetting,
  kLogging,
  kRepositoryIndex,
  kModelLoad,
  kModelUnload,
  kSystemSharedMemory,
  kCudaSharedMemory,
};

/// The operation and the names in a path. The views are parts of the path as the client wrote it:
/// names are not percent-decoded, and they are case-sensitive, as in Triton.
struct Route {
  Endpoint endpoint = Endpoint::kUnknown;
  std::string_view model;
  std::string_view version;     // digits; empty if the path names none
  std::string_view repository;  // empty if the path names none
};

/// Returns the route of a path without its query; kUnknown if it names no operation.
Route FindRoute(std::string_view path);

}  // namespace nereid::frontend::http

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace nereid::frontend::http {

enum class Endpoint {
  kUnknown,
  kServerMetadata,
  kServerLive,
  kServerReady,
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

/// Where a path leads. The views are into the path, exactly as the client wrote it: names are not
/// percent-decoded, and case counts.
struct Route {
  Endpoint endpoint = Endpoint::kUnknown;
  std::string_view model;
  std::string_view version;     // digits; empty if the path names none
  std::string_view repository;  // empty if the path names none
};

/// `path` is without the query.
Route FindRoute(std::string_view path);

}  // namespace nereid::frontend::http

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/access/operation.h"
#include "frontend/http/request_head.h"
#include "frontend/http/request_path.h"

namespace nereid::frontend::http {

enum class Endpoint {
  kUnknown,
  kServerMetadata,
  kServerOpenApi,
  kServerLive,
  kServerReady,
  kV1Live,        // of KServe's older protocol: GET /
  kV1ModelReady,  // likewise: GET /v1/models/M
  kDrain,
  kSequenceClaim,
  kSequenceSettle,
  kSequenceOffer,
  kModelMetadata,
  kModelOpenApi,
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
  kRollout,
  kSharedMemoryStatus,
  kSharedMemoryRegister,
  kSharedMemoryUnregister,
};
inline constexpr Endpoint kLastEndpoint = Endpoint::kSharedMemoryUnregister;

/// The operation and the names in a path. The views are parts of the path. Names are
/// case-sensitive, as in Triton.
struct Route {
  Endpoint endpoint = Endpoint::kUnknown;
  std::string_view model;
  std::string_view version;     // digits or a label; empty if the path names none
  std::string_view repository;  // empty if the path names none
  std::string_view region;      // of shared memory; empty if the path names none
  bool is_cuda = false;         // whether shared memory is that of a GPU
};

/// Returns the route of a path without its query; kUnknown if it names no operation.
Route FindRoute(const PathView& path);

/// What the methods of an endpoint do. Who may call them follows from the operations, so there is
/// no endpoint without a role.
struct EndpointSpec {
  Endpoint endpoint;
  /// The path, with {names} for the parts that a client chooses. Parts in brackets are optional.
  std::string_view form;
  std::optional<api::Operation> get;   // nothing: GET is a wrong method
  std::optional<api::Operation> post;  // likewise
  /// Whether errors have the content type text/plain, as in Triton.
  bool has_plain_errors = false;
  std::optional<api::Operation> remove = std::nullopt;  // of DELETE
  /// Of GET with "?reason=true", in addition to `get`; nothing: the query means nothing.
  std::optional<api::Operation> reasons = std::nullopt;
  std::optional<api::Operation> put = std::nullopt;  // of PUT

  /// HEAD is accepted where GET is.
  bool Accepts(Method method) const {
    return (IsRead(method) && get) || (method == Method::kPost && post) ||
           (method == Method::kDelete && remove) || (method == Method::kPut && put);
  }
  /// Returns the operation that decides who may send a request with this method; also for a wrong
  /// method, because Triton looks at restrictions first.
  api::Operation OperationOf(Method method) const {
    if (IsRead(method)) return get ? *get : *post;
    if (method == Method::kDelete && remove) return *remove;
    if (method == Method::kPut && put) return *put;
    return post ? *post : *get;
  }
};

/// Returns the field Allow for the reply to a method that the endpoint does not accept.
std::string AllowField(const EndpointSpec& spec);

/// Returns the specifications of all endpoints but kUnknown.
std::span<const EndpointSpec> AllEndpoints();

/// Returns the specification of an endpoint, which is not kUnknown.
const EndpointSpec& SpecOf(Endpoint endpoint);

}  // namespace nereid::frontend::http

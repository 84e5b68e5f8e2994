// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "api/inference_service.h"
#include "console/console_source.h"
#include "frontend/http/http_handler.h"
#include "frontend/http/kserve_options.h"

namespace nereid::console {

/// The fields of a request that the console's server must keep, beside those of its gate.
inline constexpr std::string_view kHostField = "host";
inline constexpr std::string_view kIfNoneMatchField = "if-none-match";

/// How many bytes of events may wait for a viewer before it is dropped.
inline constexpr size_t kMaxWaitingBytes = size_t{1} << 20;

struct ConsoleOptions {
  /// Of the paths below /v2. The console sets `tracer`. `gate` also decides about its own paths.
  frontend::http::KserveOptions kserve;
  /// Whether callers need a token, a certificate or a user: the server has --auth-file.
  bool is_guarded = false;
  /// Whether the gate serves the operations of the role manage.
  bool serves_management = true;
};

/// The handler for the console's port: its page, its documents and events, and the paths of the
/// HTTP port that begin with /v2, with the same roles. Requests below /v2 that bring a trace
/// context are traced for the console.
class Console : public frontend::http::HttpHandler {
 public:
  /// Starts to read the numbers of the models. Once, before the server serves.
  virtual base::Status Start() = 0;
  /// Ends the streams of events, for which the server would wait when it stops. No new one begins.
  /// May be called again.
  virtual void EndStreams() = 0;
};

/// Makes the console. `service` and what `source` uses must outlive it.
std::shared_ptr<Console> MakeConsole(ConsoleOptions options, api::InferenceService& service,
                                     ConsoleSource source);

}  // namespace nereid::console

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "app/options/server_options.h"
#include "base/status.h"

namespace nereid::server {
class InferenceServer;
}

namespace nereid::app {

/// The listening front ends of one server: gRPC, HTTP, SageMaker, Vertex AI, the address for
/// management, the console and the metrics page.
class Endpoints {
 public:
  /// `server` must outlive the endpoints.
  explicit Endpoints(server::InferenceServer& server);
  ~Endpoints();

  /// Starts the front ends that the options enable. Returns an error whose
  /// text is a line for the log and names the service. Front ends that have started before the
  /// error are stopped by the destructor.
  base::Status Start(const ServerOptions& options);

  enum class Service { kHttp, kGrpc, kMetrics };
  /// Returns the port on which the service listens, after Start(); 0 if it is not enabled.
  uint16_t port(Service service) const;

  /// Closes the ports of all front ends but the metrics page, and every connection without a
  /// request in progress. Does not wait. The metrics page is served until the destructor.
  void BeginStop();
  /// Waits until the remaining responses are written, at most until `deadline_ns` (monotonic), and
  /// closes all connections but those of the metrics page. Calls BeginStop() first.
  void Stop(uint64_t deadline_ns);

 private:
  struct Parts;
  server::InferenceServer& server_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nereid::app

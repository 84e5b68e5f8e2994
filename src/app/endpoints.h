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

/// The listening front ends of one server: gRPC, HTTP and the metrics page.
class Endpoints {
 public:
  /// `server` must outlive the endpoints.
  explicit Endpoints(server::InferenceServer& server);
  ~Endpoints();

  /// Starts what the options enable, in that order. The failure is a line for the log that names
  /// the service; what has started is stopped by the destructor.
  base::Status Start(const ServerOptions& options);

  /// Closes the ports, and every connection on which nothing is being answered. Does not wait. The
  /// metrics page goes on until the destructor.
  void BeginStop();
  /// Waits until the other answers are written, at most until `deadline_ns`; then all is closed.
  void Stop(uint64_t deadline_ns);

 private:
  struct Parts;
  server::InferenceServer& server_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nereid::app

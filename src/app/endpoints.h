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

  /// Starts what the options enable, in that order. On failure what has started is stopped by the
  /// destructor.
  base::Status Start(const ServerOptions& options);

  /// Stops accepting requests and waits for those in flight, all front ends together at most
  /// `timeout_ms`. The metrics page goes on until the destructor.
  void Stop(uint64_t timeout_ms);

 private:
  struct Parts;
  server::InferenceServer& server_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nereid::app

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "request/trace.h"

namespace nereid::tracing {

/// Returns Triton's name of an activity, "REQUEST_START" for example.
std::string_view ActivityName(request::TraceActivity activity);

/// The record of one request, from the front end and back, including the steps of ensembles and the
/// requests that its backend makes. The front end keeps it until the response is sent, the engine
/// while it works on the request; the destructor passes the record on. Thread-safe.
class RequestTrace : public request::TraceListener {
 public:
  /// Records an activity of the front end, "HTTP_RECV_START" for example. `time_ns` is monotonic.
  virtual void Stamp(std::string_view name, uint64_t time_ns) noexcept = 0;

  /// Sets the id of the request's own trace. Must be called before other threads use the object.
  void SetRoot(uint64_t id) { root_ = id; }

 protected:
  uint64_t root() const { return root_; }

 private:
  uint64_t root_ = 0;
};

}  // namespace nereid::tracing

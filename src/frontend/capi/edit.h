// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "abi/error.h"
#include "frontend/capi/callback_sink.h"
#include "frontend/capi/handles.h"

namespace nereid::frontend_capi {

/// Runs `body` with the request, unless the server owns it at present. For functions that change a
/// request; `body` returns a Status or nothing.
template <typename Body>
TRITONSERVER_Error* Edit(TRITONSERVER_InferenceRequest* c_request, Body&& body) noexcept {
  return abi::Guard([&]() -> base::Status {
    request::InferenceRequest& request = *Unwrap(c_request);
    if (SinkOf(request).in_flight()) {
      return base::Status::InvalidArgument(
          "the request is in flight; it may be changed after its release callback");
    }
    if constexpr (std::is_void_v<decltype(body(request))>) {
      body(request);
      return base::Status::Ok();
    } else {
      return body(request);
    }
  });
}

}  // namespace nereid::frontend_capi

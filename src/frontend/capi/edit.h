// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "abi/error.h"
#include "abi/handle.h"
#include "frontend/capi/callback_sink.h"
#include "frontend/capi/handles.h"

namespace nereid::frontend::capi {

/// Runs `body` with the request. Returns INVALID_ARG while the server owns the request. For
/// functions that change a request; `body` returns a Status or nothing.
template <typename Body>
TRITONSERVER_Error* Edit(TRITONSERVER_InferenceRequest* c_request, Body&& body) noexcept {
  return abi::Guard([&]() -> base::Status {
    request::InferenceRequest& request = abi::Unwrap(c_request);
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

}  // namespace nereid::frontend::capi

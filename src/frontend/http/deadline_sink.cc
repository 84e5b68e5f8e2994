// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/deadline_sink.h"

namespace nereid::frontend::http {

void DeadlineSink::Send(std::unique_ptr<request::InferenceResponse> response, bool final) noexcept {
  if (response != nullptr && response_count_++ == 0) response_ = std::move(response);
  if (final) taker_->Complete(shared_from_this());
}

}  // namespace nereid::frontend::http

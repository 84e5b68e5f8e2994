// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/deadline_sink.h"

namespace nereid::frontend::http {

// Without a lock: the responses of one request are sent one at a time, and the loop takes the first
// one only after the final one.
void DeadlineSink::Send(std::unique_ptr<request::InferenceResponse> response, bool final) noexcept {
  if (response != nullptr && response_count_++ == 0) response_ = std::move(response);
  if (final) loop_.Complete(completion_, shared_from_this());
}

}  // namespace nereid::frontend::http

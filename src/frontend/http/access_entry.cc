// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/access_entry.h"

#include <utility>

#include "base/clock.h"

namespace nereid::frontend::http {

void AccessEntry::Begin(const RequestHead& head, std::string peer, uint64_t start_ns,
                        size_t body_size) {
  // A malformed path is shown as it came.
  const std::string_view path = head.path().text();
  record_ = std::make_unique<api::AccessRecord>(
      api::AccessRecord::Request{.protocol = "http",
                                 .method = MethodName(head.method),
                                 .path = path.empty() ? std::string_view(head.target) : path,
                                 .peer = std::move(peer),
                                 .start_ns = start_ns});
  record_->AddReceived(body_size);
}

void AccessEntry::End(int status) noexcept {
  if (record_ == nullptr) return;
  record_->Write(status, base::SteadyClock().NowNs());
  record_.reset();
}

}  // namespace nereid::frontend::http

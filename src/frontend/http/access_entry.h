// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "api/access_record.h"
#include "frontend/http/request_head.h"

namespace nereid::frontend::http {

/// The line of the request at hand in the access log. Does nothing if it was not begun, because the
/// log is off. On the loop's thread; record() may be used as AccessRecord says.
class AccessEntry {
 public:
  /// `peer` is the client's address; `start_ns` is when the first byte came, monotonic.
  void Begin(const RequestHead& head, std::string peer, uint64_t start_ns, size_t body_size);
  /// Returns null if there is no line.
  api::AccessRecord* record() const { return record_.get(); }
  /// Writes the line. A second call does nothing.
  void End(int status) noexcept;

 private:
  std::unique_ptr<api::AccessRecord> record_;
};

}  // namespace nereid::frontend::http

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace nereid::api {

/// Why a caller is refused.
enum class RefusalKind : uint8_t {
  kNone,
  kRestricted,       // Triton's restricted APIs: a header is missing or has another value
  kUnauthenticated,  // it is not known who asks
  kForbidden,        // who asks lacks the role, or asks at the wrong address
};

struct AccessRefusal {
  RefusalKind kind = RefusalKind::kNone;
  std::string text;  // for the client

  bool refused() const { return kind != RefusalKind::kNone; }
};

}  // namespace nereid::api

// SPDX-License-Identifier: Apache-2.0
#include "api/health.h"

#include <utility>

namespace nereid::api {

void AddReason(UnreadyReason reason, Readiness* readiness) {
  readiness->ready = false;
  if (readiness->reasons.size() >= kMaxHealthReasons) {
    ++readiness->omitted;
    return;
  }
  if (reason.text.size() > kMaxReasonText) {
    size_t end = kMaxReasonText;
    // Not within a character of UTF-8, whose further bytes are 10xxxxxx.
    while (end > 0 && (static_cast<unsigned char>(reason.text[end]) & 0xc0) == 0x80) --end;
    reason.text.resize(end);
    reason.text += "...";
  }
  readiness->reasons.push_back(std::move(reason));
}

}  // namespace nereid::api

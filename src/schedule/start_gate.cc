// SPDX-License-Identifier: Apache-2.0
#include "schedule/start_gate.h"

#include "base/parse_number.h"

namespace nereid::schedule {
namespace {

size_t CountOf(const char* text) {
  return text == nullptr ? 0 : base::ParseWhole<uint32_t>(text).value_or(0);
}

}  // namespace

StartConditions ReadStartConditions(const char* delay, const char* backlog_delay) {
  return {CountOf(delay), CountOf(backlog_delay)};
}

}  // namespace nereid::schedule

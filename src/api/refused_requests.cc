// SPDX-License-Identifier: Apache-2.0
#include "api/refused_requests.h"

#include <iterator>

#include "api/status_map.h"

namespace nereid::api {
namespace {

using base::StatusCode;

// In the order of FrontEnd.
constexpr std::string_view kFrontEnds[] = {"http",      "grpc",       "sagemaker",
                                           "vertex-ai", "management", "console"};
static_assert(std::size(kFrontEnds) == kFrontEndCount);

std::string_view ReasonOf(RefusedAt at, StatusCode code) {
  if (at == RefusedAt::kDeadline) return "deadline";
  if (code == StatusCode::kNotFound) return "unknown_model";
  if (code == StatusCode::kUnavailable) return "unavailable";
  // Some errors of JSON have Triton's code, INTERNAL.
  if (at == RefusedAt::kMessage) return "malformed";
  const bool is_invalid = code == StatusCode::kInvalidArgument ||
                          code == StatusCode::kUnsupported || code == StatusCode::kAlreadyExists;
  return is_invalid ? "invalid" : "other";
}

int StatusOf(FrontEnd front_end, RefusedAt at, StatusCode code) {
  const bool is_grpc = front_end == FrontEnd::kGrpc;
  if (at == RefusedAt::kDeadline) return is_grpc ? 4 : 504;
  return is_grpc ? GrpcStatus(code) : HttpStatus(code);
}

/// Returns whether dashboards should find a series before the first such request.
bool IsUsual(FrontEnd front_end, RefusedAt at, StatusCode code) {
  if (front_end != FrontEnd::kHttp && front_end != FrontEnd::kGrpc) return false;
  if (at == RefusedAt::kMessage) return code == StatusCode::kInvalidArgument;
  return at == RefusedAt::kSubmission &&
         (code == StatusCode::kInvalidArgument || code == StatusCode::kNotFound ||
          code == StatusCode::kUnavailable);
}

}  // namespace

void RefusedRequests::Count(FrontEnd front_end, RefusedAt at, StatusCode code) noexcept {
  Codes& codes = counts_[static_cast<size_t>(front_end)][static_cast<size_t>(at)];
  codes[static_cast<size_t>(code)].fetch_add(1, std::memory_order_relaxed);
}

void RefusedRequests::Visit(const std::function<void(const Series&)>& visit) const {
  for (size_t f = 0; f < kFrontEndCount; ++f) {
    for (size_t a = 0; a < kPlaceCount; ++a) {
      for (size_t c = 0; c < kCodeCount; ++c) {
        const auto front_end = static_cast<FrontEnd>(f);
        const auto at = static_cast<RefusedAt>(a);
        const auto code = static_cast<StatusCode>(c);
        const uint64_t count = counts_[f][a][c].load(std::memory_order_relaxed);
        if (count == 0 && !IsUsual(front_end, at, code)) continue;
        visit({kFrontEnds[f], StatusOf(front_end, at, code), ReasonOf(at, code), count});
      }
    }
  }
}

}  // namespace nereid::api

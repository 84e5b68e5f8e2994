// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/status.h"

namespace nereid::api {

/// The front ends that count refused requests: the values of a metric's label.
enum class FrontEnd : uint8_t { kHttp, kGrpc, kSagemaker, kVertexAi, kManagement, kConsole };
inline constexpr size_t kFrontEndCount = 6;

/// How far a request had come when it was refused.
enum class RefusedAt : uint8_t {
  kMessage,     // the message, or a tensor in it, cannot be read
  kSubmission,  // no version serves the model, or the request does not fit it
  kDeadline,    // the client's deadline had passed
};

/// Counts the inference requests that are refused before they are in a queue of a model, and are in
/// none of the model's numbers for that reason. Thread-safe; counting takes no lock and no memory.
/// No label is a text of a client, so the number of series has a bound.
class RefusedRequests {
 public:
  /// One series: its labels, and its value.
  struct Series {
    std::string_view front_end;
    int status = 0;  // of the answer, in the front end's protocol
    std::string_view reason;
    uint64_t count = 0;
  };

  /// Counts one request. `code` is that of its error; not kOk.
  void Count(FrontEnd front_end, RefusedAt at, base::StatusCode code) noexcept;

  /// Calls `visit` for the series of HTTP and gRPC that every server may need, also if they are 0,
  /// and for the other ones that are not 0. A series may come twice: the sum counts.
  void Visit(const std::function<void(const Series&)>& visit) const;

 private:
  static constexpr size_t kPlaceCount = 3;
  static constexpr size_t kCodeCount = static_cast<size_t>(base::StatusCode::kCancelled) + 1;
  using Codes = std::array<std::atomic<uint64_t>, kCodeCount>;

  std::array<std::array<Codes, kPlaceCount>, kFrontEndCount> counts_{};
};

}  // namespace nereid::api

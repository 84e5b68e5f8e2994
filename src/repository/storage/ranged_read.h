// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "curl/http_message.h"

namespace nereid::repository::storage {

/// Checks that a response brings exactly the bytes that were asked for, and passes them on.
class RangedRead {
 public:
  using Sink = std::function<base::Status(std::string_view)>;

  /// `object_size` is the size of the whole object. The sink must outlive the object.
  RangedRead(curl::ByteRange range, uint64_t object_size, const Sink& sink)
      : range_(range), object_size_(object_size), sink_(sink) {}

  /// Checks the head of a response with a status of 200 … 299. INTERNAL if it brings other bytes,
  /// ALREADY_EXISTS if the object has another size.
  base::Status TakeHead(const curl::HttpResponse& head);

  /// Passes a piece of the body on. INTERNAL if the body is longer than the range.
  base::Status TakeBody(std::string_view piece);

  /// Returns UNAVAILABLE if the body was shorter than the range.
  base::Status Finish() const;

 private:
  const curl::ByteRange range_;
  const uint64_t object_size_;
  const Sink& sink_;
  uint64_t received_ = 0;
};

}  // namespace nereid::repository::storage

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace nereid::frontend::http {

/// Finds out whether a client speaks HTTP/2, going by its first bytes (RFC 9113, section 3.4). In
/// TLS, too, they decide: a client that has chosen h2 by ALPN sends the preface as well.
class PrefaceMatcher {
 public:
  enum class Result {
    kPart,   // more bytes are needed; these are a part of the preface
    kWhole,  // the preface is complete
    kNone,   // the client does not speak HTTP/2
  };

  /// Returns whether the question is open.
  bool is_open() const { return is_open_; }

  /// Looks at the next bytes. Removes the end of the preface from them if it is complete.
  Result Match(std::string_view* input) {
    const std::string_view rest = kPreface.substr(size_, input->size());
    if (!input->starts_with(rest)) {
      is_open_ = false;
      return Result::kNone;
    }
    size_ += rest.size();
    if (size_ < kPreface.size()) return Result::kPart;
    input->remove_prefix(rest.size());
    is_open_ = false;
    return Result::kWhole;
  }

  /// Returns the bytes that were a part of the preface.
  std::string_view matched() const { return kPreface.substr(0, size_); }

 private:
  static constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

  size_t size_ = 0;  // of the bytes that matched
  bool is_open_ = true;
};

}  // namespace nereid::frontend::http

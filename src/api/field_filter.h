// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "api/access/access_gate.h"
#include "api/access/caller.h"
#include "api/header_forwarding.h"

namespace nereid::api {

/// Chooses the header fields (HTTP) or metadata (gRPC) of a request that the server keeps, beside
/// those that the protocol itself needs. A front end without such fields has no filter. Immutable;
/// thread-safe.
class FieldFilter {
 public:
  /// The maximum number of fields that are kept of one request. Their bytes are bounded by the size
  /// of a head.
  static constexpr size_t kMaxKept = 128;

  /// Either may be null.
  FieldFilter(std::shared_ptr<const AccessGate> gate,
              std::shared_ptr<const HeaderForwarding> forwarding)
      : gate_(std::move(gate)), forwarding_(std::move(forwarding)) {}

  /// Adds the field to `kept` if it is needed. Returns false if `kept` is full.
  bool Take(std::string_view name, std::string_view value, std::vector<HeaderField>* kept) const;

 private:
  const std::shared_ptr<const AccessGate> gate_;
  const std::shared_ptr<const HeaderForwarding> forwarding_;
};

/// The text of the refusal of a request with too many such fields.
std::string_view TooManyFieldsText();

/// Returns a filter for a front end, or null if nothing has to be kept.
std::shared_ptr<const FieldFilter> MakeFieldFilter(
    std::shared_ptr<const AccessGate> gate, std::shared_ptr<const HeaderForwarding> forwarding);

}  // namespace nereid::api

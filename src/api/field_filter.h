// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
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

  /// The pointers may be null. `names` are those of fields that the front end itself needs.
  FieldFilter(std::shared_ptr<const AccessGate> gate,
              std::shared_ptr<const HeaderForwarding> forwarding,
              std::vector<std::string> names = {})
      : gate_(std::move(gate)), forwarding_(std::move(forwarding)), names_(std::move(names)) {}

  /// Adds the field to `kept` if it is needed. Returns false if `kept` is full.
  bool Take(std::string_view name, std::string_view value, std::vector<HeaderField>* kept) const;

 private:
  const std::shared_ptr<const AccessGate> gate_;
  const std::shared_ptr<const HeaderForwarding> forwarding_;
  const std::vector<std::string> names_;
};

/// Returns the first of the kept fields with this name, in any case of letters; null if there is
/// none.
const HeaderField* FindField(std::span<const HeaderField> fields, std::string_view name);

/// The text of the refusal of a request with too many such fields.
std::string_view TooManyFieldsText();

/// Returns a filter for a front end, or null if nothing has to be kept.
std::shared_ptr<const FieldFilter> MakeFieldFilter(
    std::shared_ptr<const AccessGate> gate, std::shared_ptr<const HeaderForwarding> forwarding,
    std::vector<std::string> names = {});

}  // namespace nereid::api

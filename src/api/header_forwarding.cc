// SPDX-License-Identifier: Apache-2.0
#include "api/header_forwarding.h"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

namespace nereid::api {
namespace {

using base::Status;

bool IsReserved(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "sequence_id", "sequence_start", "sequence_end",      "priority",
      "timeout",     "headers",        "binary_data_output"};
  return name.starts_with("triton_") ||
         std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace

base::Result<std::shared_ptr<const HeaderForwarding>> HeaderForwarding::Make(
    const std::string& pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  auto compiled = std::make_unique<const RE2>("(?i)" + pattern, options);
  if (!compiled->ok()) {
    return Status::InvalidArgument("'" + pattern +
                                   "' is not a regular expression: " + compiled->error());
  }
  return std::shared_ptr<const HeaderForwarding>(new HeaderForwarding(std::move(compiled)));
}

HeaderForwarding::HeaderForwarding(std::unique_ptr<const RE2> pattern)
    : pattern_(std::move(pattern)) {}

HeaderForwarding::~HeaderForwarding() = default;

bool HeaderForwarding::Matches(std::string_view name) const {
  return RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *pattern_);
}

Status ForwardFields(std::span<const HeaderField> fields, request::RequestFields* request) {
  for (const HeaderField& field : fields) {
    if (!field.is_forwarded) continue;
    if (IsReserved(field.name)) {
      return Status::InvalidArgument("Header '" + field.name +
                                     "' is reserved for Triton usage and cannot be forwarded.");
    }
    request->parameters.push_back({field.name, field.value});
  }
  return Status::Ok();
}

}  // namespace nereid::api

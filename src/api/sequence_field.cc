// SPDX-License-Identifier: Apache-2.0
#include "api/sequence_field.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "base/ascii_case.h"

namespace nereid::api {
namespace {

using base::Status;

std::optional<uint64_t> NumberFrom(std::string_view text) {
  if (text.starts_with('0')) return text == "0" ? std::optional<uint64_t>(0) : std::nullopt;
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

}  // namespace

Status TakeSequenceId(std::span<const HeaderField> fields, std::string_view name,
                      request::RequestFields* request) {
  if (name.empty() || !request::IsNone(request->correlation_id)) return {};
  const HeaderField* found = nullptr;
  for (const HeaderField& field : fields) {
    if (!base::EqualsIgnoringCase(field.name, name)) continue;
    if (found != nullptr) {
      return Status::InvalidArgument("the request has several headers '" + std::string(name) +
                                     "', which names its sequence: send one");
    }
    found = &field;
  }
  if (found == nullptr) return {};
  if (const auto number = NumberFrom(found->value)) {
    request->correlation_id = *number;
    return {};
  }
  NEREID_RETURN_IF_ERROR(request::CheckCorrelationId(found->value));
  request->correlation_id = found->value;
  return {};
}

}  // namespace nereid::api

// SPDX-License-Identifier: Apache-2.0
#include "api/field_filter.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/ascii_case.h"

namespace nereid::api {
namespace {

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(), [name](const std::string& one) {
    return base::EqualsIgnoringCase(one, name);
  });
}

}  // namespace

bool FieldFilter::Take(std::string_view name, std::string_view value,
                       std::vector<HeaderField>* kept) const {
  const bool is_needed =
      (gate_ != nullptr && gate_->NeedsField(name)) || (!names_.empty() && Contains(names_, name));
  const bool is_secret = gate_ != nullptr && gate_->IsSecret(name);
  const bool is_forwarded = forwarding_ != nullptr && !is_secret && forwarding_->Matches(name);
  if (!is_needed && !is_forwarded) return true;
  if (kept->size() >= kMaxKept) return false;
  kept->push_back({std::string(name), std::string(value), is_forwarded});
  return true;
}

const HeaderField* FindField(std::span<const HeaderField> fields, std::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(), [name](const HeaderField& field) {
    return base::EqualsIgnoringCase(field.name, name);
  });
  return found == fields.end() ? nullptr : &*found;
}

std::string_view TooManyFieldsText() {
  static_assert(FieldFilter::kMaxKept == 128);
  return "the request has more than 128 header fields that the server would have to keep: send "
         "fewer whose names match the pattern of header forwarding";
}

std::shared_ptr<const FieldFilter> MakeFieldFilter(
    std::shared_ptr<const AccessGate> gate, std::shared_ptr<const HeaderForwarding> forwarding,
    std::vector<std::string> names) {
  if (gate == nullptr && forwarding == nullptr && names.empty()) return nullptr;
  return std::make_shared<const FieldFilter>(std::move(gate), std::move(forwarding),
                                             std::move(names));
}

}  // namespace nereid::api

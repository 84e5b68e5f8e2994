// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <pugixml.hpp>
#include <string_view>

#include "base/status.h"

namespace nereid::repository::storage {

/// Parses an XML document whose root element has that name. A document type is refused: the stores
/// send none, and it could define entities. INTERNAL if the text is not that.
base::Status ParseXml(std::string_view text, const char* root_name, pugi::xml_document* document,
                      pugi::xml_node* root);

/// Returns the text of a child element as a decimal number, or nothing.
std::optional<uint64_t> NumberChild(const pugi::xml_node& parent, const char* name);

}  // namespace nereid::repository::storage

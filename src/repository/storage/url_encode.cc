// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/url_encode.h"

#include <algorithm>

namespace nereid::repository::storage {

std::string EncodeParameters(const Parameters& parameters) {
  Parameters encoded;
  for (const auto& [name, value] : parameters) {
    encoded.emplace_back(PercentEncode(name), PercentEncode(value));
  }
  std::sort(encoded.begin(), encoded.end());
  std::string query;
  for (const auto& [name, value] : encoded) {
    if (!query.empty()) query += '&';
    query += name + "=" + value;
  }
  return query;
}

}  // namespace nereid::repository::storage

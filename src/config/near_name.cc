// SPDX-License-Identifier: Apache-2.0
#include "config/near_name.h"

#include <algorithm>
#include <vector>

namespace nereid::config {
namespace {

// Longer names come from no keyboard; the distance takes time proportional to the product.
constexpr size_t kMaxNameLength = 128;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Insertions, deletions and replacements, letter case aside.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (Lower(a[i - 1]) == Lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string DidYouMean(std::string_view wrong, std::span<const std::string_view> candidates) {
  if (wrong.empty() || wrong.size() > kMaxNameLength) return "";
  std::string_view best;
  size_t best_distance = wrong.size() / 2 + 1;
  for (const std::string_view candidate : candidates) {
    const size_t distance = EditDistance(wrong, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best.empty() ? "" : " Did you mean '" + std::string(best) + "'?";
}

}  // namespace nereid::config

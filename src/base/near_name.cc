// SPDX-License-Identifier: Apache-2.0
#include "base/near_name.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace nereid::base {
namespace {

// Limits the time of EditDistance. A longer name is no misspelling.
constexpr size_t kMaxNameLength = 128;
// Up to this length, another letter makes another word.
constexpr size_t kShortName = 5;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool SameIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

// Returns whether `word` is the end of `name` after a '_', like "CPU" of KIND_CPU. A missing prefix
// counts as one edit.
bool IsLastWord(std::string_view word, std::string_view name) {
  if (name.size() <= word.size() || name[name.size() - word.size() - 1] != '_') return false;
  return SameIgnoringCase(word, name.substr(name.size() - word.size()));
}

// Returns whether `words` is the beginning of `name` before a '_', like "max_batch" of
// max_batch_size. A missing end counts as one edit too.
bool IsFirstWords(std::string_view words, std::string_view name) {
  if (words.size() < 3 || name.size() <= words.size() || name[words.size()] != '_') return false;
  return SameIgnoringCase(words, name.substr(0, words.size()));
}

// Returns whether two names of the same length do not have the same letters.
bool HasOtherLetters(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         !std::is_permutation(a.begin(), a.end(), b.begin(), b.end(),
                              [](char x, char y) { return Lower(x) == Lower(y); });
}

}  // namespace

// Only the last three rows of the table of distances between prefixes are kept.
size_t EditDistance(std::string_view a, std::string_view b, LetterCase letter_case) {
  const auto same = [letter_case](char x, char y) {
    return letter_case == LetterCase::kIgnored ? Lower(x) == Lower(y) : x == y;
  };
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string_view NearestName(std::string_view wrong, std::span<const std::string_view> candidates) {
  if (wrong.empty() || wrong.size() > kMaxNameLength) return {};
  std::string_view best;
  size_t best_distance = std::max<size_t>(wrong.size() / 4, 1) + 1;
  for (const std::string_view candidate : candidates) {
    const bool is_part = IsLastWord(wrong, candidate) || IsFirstWords(wrong, candidate);
    const size_t distance = is_part ? 1 : EditDistance(wrong, candidate, LetterCase::kIgnored);
    const bool is_other_word = wrong.size() <= kShortName && HasOtherLetters(wrong, candidate);
    if (distance < best_distance && (is_part || distance == 0 || !is_other_word)) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string DidYouMean(std::string_view wrong, std::span<const std::string_view> candidates) {
  const std::string_view nearest = NearestName(wrong, candidates);
  return nearest.empty() ? "" : " Did you mean '" + std::string(nearest) + "'?";
}

}  // namespace nereid::base

// SPDX-License-Identifier: Apache-2.0
#include "app/options/flag_words.h"

#include <algorithm>

#include "base/near_name.h"

namespace nereid::app {
namespace {

using base::Status;

Status Bad(std::string_view flag, std::string_view reason) {
  return Status::InvalidArgument(BadOption(flag, reason));
}

Status Unknown(std::string_view name) {
  const std::string_view nearest = NearestFlag(name);
  if (nearest.empty()) return Bad(name, "unknown flag, --help lists the flags");
  return Bad(name, "unknown flag, did you mean --" + std::string(nearest) + "?");
}

base::Result<const FlagSpec*> Find(std::string_view name) {
  std::vector<const FlagSpec*> candidates;
  for (const FlagSpec& flag : AllFlags()) {
    if (flag.name == name) return &flag;
    if (!flag.is_extension && !name.empty() && flag.name.starts_with(name)) {
      candidates.push_back(&flag);
    }
  }
  if (candidates.size() == 1) return candidates.front();
  if (candidates.empty()) return Unknown(name);
  std::string names;
  for (const FlagSpec* flag : candidates) {
    names.append(names.empty() ? "--" : ", --").append(flag->name);
  }
  return Bad(name, "the abbreviation is ambiguous: " + names);
}

}  // namespace

std::string OneLine(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text;
}

std::string BadOption(std::string_view flag, std::string_view reason) {
  std::string line = "Bad option: \"--";
  return OneLine(line.append(flag).append("\". ").append(reason));
}

std::string_view NearestFlag(std::string_view name) {
  // Longer than any flag, so not a typing error; the computation of the distance would take long.
  if (name.size() > 80) return {};
  std::string spelt(name);
  std::replace(spelt.begin(), spelt.end(), '_', '-');
  std::string_view nearest;
  size_t least = std::max<size_t>(2, spelt.size() / 4) + 1;
  for (const FlagSpec& flag : AllFlags()) {
    const size_t distance = base::EditDistance(spelt, flag.name, base::LetterCase::kMatters);
    if (distance < least && distance < spelt.size()) {
      least = distance;
      nearest = flag.name;
    }
  }
  return nearest;
}

base::Result<std::optional<FlagWord>> FlagWords::Next() {
  while (next_ < arguments_.size()) {
    const std::string_view word = arguments_[next_++];
    if (word == "--") {
      while (next_ < arguments_.size()) others_.push_back(arguments_[next_++]);
      break;
    }
    if (word.size() < 2 || word[0] != '-') {
      others_.push_back(word);
      continue;
    }
    if (word[1] != '-') {
      return Status::InvalidArgument(
          BadOption(word.substr(1), "flags begin with two hyphens; there are no short flags"));
    }
    const size_t equals = word.find('=');
    const std::string_view name = word.substr(2, equals == word.npos ? equals : equals - 2);
    NEREID_ASSIGN_OR_RETURN(const FlagSpec* flag, Find(name));
    if (flag->value_form.empty()) {
      if (equals != word.npos) return Bad(flag->name, "the flag takes no value");
      return std::optional(FlagWord{flag, {}});
    }
    if (equals != word.npos) return std::optional(FlagWord{flag, word.substr(equals + 1)});
    if (next_ == arguments_.size()) {
      return Bad(flag->name, "the flag needs a value: <" + std::string(flag->value_form) + ">");
    }
    return std::optional(FlagWord{flag, arguments_[next_++]});
  }
  return std::optional<FlagWord>();
}

}  // namespace nereid::app

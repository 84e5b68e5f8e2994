// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/aws_profile.h"

#include <algorithm>

#include "base/ascii_case.h"

namespace nereid::repository::storage {
namespace {

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  text.remove_suffix(text.size() - (text.find_last_not_of(kBlanks) + 1));  // npos + 1 is 0
  return text;
}

/// Returns whether a line "[profile  name]" names the section "profile name".
bool NamesSection(std::string_view line, std::string_view section) {
  const size_t end = line.find(']');
  if (end == line.npos) return false;
  const std::string_view name = Trimmed(line.substr(1, end - 1));
  constexpr std::string_view kProfile = "profile";
  if (!section.starts_with("profile ")) return name == section;
  return name.starts_with(kProfile) && name.size() > kProfile.size() &&
         (name[kProfile.size()] == ' ' || name[kProfile.size()] == '\t') &&
         Trimmed(name.substr(kProfile.size())) == section.substr(kProfile.size() + 1);
}

}  // namespace

AwsProfile ParseAwsProfile(std::string_view text, std::string_view section) {
  AwsProfile profile;
  bool inside = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '[') {
      inside = NamesSection(line, section);
      continue;
    }
    const size_t equals = line.find('=');
    if (!inside || equals == line.npos || line[0] == ' ' || line[0] == '\t') continue;
    std::string name(Trimmed(line.substr(0, equals)));
    std::transform(name.begin(), name.end(), name.begin(), base::LowerCase);
    std::string_view value = line.substr(equals + 1);
    // A comment behind a value begins with a blank.
    const size_t comment = std::min(value.find(" #"), value.find(" ;"));
    value = Trimmed(value.substr(0, comment));
    profile.insert_or_assign(std::move(name), std::string(value));
  }
  return profile;
}

}  // namespace nereid::repository::storage

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace nereid::repository::storage {

/// The settings of one profile.
using AwsProfile = std::map<std::string, std::string>;

/// Reads one section of a file in the format of ~/.aws/credentials and ~/.aws/config
/// ("Configuration and credential file settings" in the AWS CLI's guide): "[name]" begins a
/// section, "key = value" is a setting, '#' and ';' begin a comment line, indented lines belong to
/// the setting above and are ignored. Returns an empty map if the text has no such section.
AwsProfile ParseAwsProfile(std::string_view text, std::string_view section);

}  // namespace nereid::repository::storage

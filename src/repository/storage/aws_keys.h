// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nereid::repository::storage {

/// What signs requests to AWS. Without a key id, requests are sent unsigned.
struct AwsKeys {
  std::string key_id = {};
  std::string secret_key = {};
  std::string session_token = {};
  std::string region = {};  // empty: not known from here

  bool is_anonymous() const { return key_id.empty(); }
  bool operator==(const AwsKeys&) const = default;
};

}  // namespace nereid::repository::storage

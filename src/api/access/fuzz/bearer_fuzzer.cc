// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any value of the field Authorization, before a policy with one token. Nobody is
// admitted without that token.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/access/access_policy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nereid::api;
  static const NewToken token = *MakeToken("ci");
  static const AccessPolicy policy([] {
    AccessPolicy::Grants grants;
    grants.tokens["ci"] = {{Role::kInfer}, token.hash};
    return grants;
  }());
  const std::string value(reinterpret_cast<const char*>(data), size);
  const std::vector<HeaderField> fields = {{"authorization", value}};
  if (policy.RolesOf({.fields = fields}).has_value()) __builtin_trap();
  const auto parts = ParseBearer(value);
  if (parts && (!IsTokenName(parts->name) || parts->secret.empty() ||
                parts->secret.size() > kMaxTokenSecret)) {
    __builtin_trap();
  }
  return 0;
}

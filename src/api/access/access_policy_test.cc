// SPDX-License-Identifier: Apache-2.0
#include "api/access/access_policy.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace nereid::api {
namespace {

class AccessPolicyTest : public ::testing::Test {
 protected:
  AccessPolicyTest() : token_(*MakeToken("ci")) {
    AccessPolicy::Grants grants;
    grants.tokens["ci"] = {{Role::kInfer}, token_.hash};
    grants.subjects["CN=ops"] = {Role::kManage};
    grants.uids[7] = {Role::kObserve};
    grants.gids[8] = {Role::kInfer};
    policy_ = std::make_unique<AccessPolicy>(std::move(grants));
  }

  /// Returns the roles of a caller with these values of the field Authorization.
  std::string Roles(std::vector<std::string> values, Caller caller = {}) {
    std::vector<HeaderField> fields = {{"x-other", "Bearer " + token_.text}};
    for (std::string& value : values) fields.push_back({"AuthoriZation", std::move(value)});
    caller.fields = fields;
    const auto roles = policy_->RolesOf(caller);
    return roles ? RoleWords(*roles) : "nobody";
  }

  const NewToken token_;
  std::unique_ptr<AccessPolicy> policy_;
};

TEST_F(AccessPolicyTest, Tokens) {
  EXPECT_EQ(Roles({"Bearer " + token_.text}), "infer");
  EXPECT_EQ(Roles({}), "nobody");
  EXPECT_EQ(Roles({""}), "nobody");
  EXPECT_EQ(Roles({"Bearer " + MakeToken("ci")->text}), "nobody");       // another secret
  EXPECT_EQ(Roles({"Bearer other" + token_.text.substr(2)}), "nobody");  // another name
  EXPECT_EQ(Roles({"Bearer " + token_.text + "x"}), "nobody");
  EXPECT_EQ(Roles({"Basic " + token_.text}), "nobody");
}

TEST_F(AccessPolicyTest, TwoTokensAreNone) {
  const std::string good = "Bearer " + token_.text;
  EXPECT_EQ(Roles({good, good}), "nobody");
  EXPECT_EQ(Roles({good, "Bearer x.y"}), "nobody");
  EXPECT_EQ(Roles({"Bearer x.y", good}), "nobody");
}

TEST_F(AccessPolicyTest, CertificatesAndUsers) {
  EXPECT_EQ(Roles({}, {.tls_subject = "CN=ops"}), "manage");
  EXPECT_EQ(Roles({}, {.tls_subject = "CN=ops,O=x"}), "nobody");
  EXPECT_EQ(Roles({}, {.uid = 7}), "observe");
  EXPECT_EQ(Roles({}, {.uid = 8}), "nobody");
  EXPECT_EQ(Roles({}, {.uid = 0, .gid = 8}), "infer");
}

TEST_F(AccessPolicyTest, RolesAddUp) {
  const std::string good = "Bearer " + token_.text;
  EXPECT_EQ(Roles({good}, {.uid = 7}), "infer,observe");
  EXPECT_EQ(Roles({good}, {.tls_subject = "CN=ops", .uid = 7, .gid = 8}), "infer,observe,manage");
}

TEST_F(AccessPolicyTest, AWrongTokenIsNeverIgnored) {
  EXPECT_EQ(Roles({"Bearer x.y"}, {.tls_subject = "CN=ops", .uid = 7}), "nobody");
}

TEST_F(AccessPolicyTest, AHashOfZerosIsNoToken) {
  // What an unknown name is compared with must not admit anyone, whatever the secret.
  EXPECT_EQ(Roles({"Bearer unknown." + token_.text.substr(3)}), "nobody");
}

}  // namespace
}  // namespace nereid::api

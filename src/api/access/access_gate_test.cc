// SPDX-License-Identifier: Apache-2.0
#include "api/access/access_gate.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "api/status_map.h"
#include "api/testing/role_tokens.h"

namespace nereid::api {
namespace {

class AccessGateTest : public ::testing::Test {
 protected:
  void UseRoles() { rules_.file = tokens_.file(); }

  Admission Ask(Operation operation, std::vector<HeaderField> fields = {}) {
    return AccessGate(rules_).Admit(operation, {.fields = fields});
  }
  Admission AskAs(const std::string& name, Operation operation) {
    return Ask(operation, {{"Authorization", tokens_.Bearer(name)}});
  }

  AccessRules rules_;
  const testing::RoleTokens tokens_;
};

TEST_F(AccessGateTest, WithoutRulesEverythingIsOpen) {
  EXPECT_TRUE(rules_.empty());
  for (size_t i = 0; i <= static_cast<size_t>(kLastOperation); ++i) {
    EXPECT_TRUE(Ask(static_cast<Operation>(i)).ok());
  }
}

// What the table says, and nothing else: deny by default.
TEST_F(AccessGateTest, EveryRoleAndOperation) {
  UseRoles();
  for (size_t i = 0; i <= static_cast<size_t>(kLastOperation); ++i) {
    const auto operation = static_cast<Operation>(i);
    const OperationFacts& facts = FactsOf(operation);
    EXPECT_EQ(Ask(operation).refusal.kind, facts.is_probe || facts.is_public
                                               ? RefusalKind::kNone
                                               : RefusalKind::kUnauthenticated)
        << facts.name;
    for (const Role role : {Role::kInfer, Role::kObserve, Role::kManage}) {
      EXPECT_EQ(AskAs(RoleWords({role}), operation).refusal.kind,
                facts.roles.Has(role) ? RefusalKind::kNone : RefusalKind::kForbidden)
          << facts.name << " as " << RoleWords({role});
    }
  }
}

TEST_F(AccessGateTest, ProbesAreClosedOnDemand) {
  UseRoles();
  rules_.protects_health = true;
  EXPECT_EQ(Ask(Operation::kServerLive).refusal.kind, RefusalKind::kUnauthenticated);
  EXPECT_TRUE(AskAs("observe", Operation::kServerLive).ok());
}

TEST_F(AccessGateTest, TextsNameTheRoleAndNothingElse) {
  UseRoles();
  const std::string nobody =
      "this operation needs one of the roles 'infer' or 'manage': send a valid token as "
      "'Authorization: Bearer <token>'";
  EXPECT_EQ(Ask(Operation::kInfer).refusal.text, nobody);
  EXPECT_EQ(Ask(Operation::kInfer, {{"authorization", "Bearer infer.wrong"}}).refusal.text, nobody);
  EXPECT_EQ(Ask(Operation::kInfer, {{"authorization", "Bearer no.wrong"}}).refusal.text, nobody);
  EXPECT_EQ(AskAs("infer", Operation::kModelLoad).refusal.text,
            "this operation needs the role 'manage'");
}

TEST_F(AccessGateTest, Restrictions) {
  rules_.restrictions = {{Category::kHealth, "Key", "value"}, {Category::kTrace, "other", ""}};
  const Admission refused = Ask(Operation::kServerLive);
  EXPECT_EQ(refused.refusal.kind, RefusalKind::kRestricted);
  EXPECT_EQ(refused.refusal.text, "This API is restricted, expecting header 'Key'");
  EXPECT_TRUE(Ask(Operation::kModelReady, {{"kEY", "value"}}).ok());
  EXPECT_FALSE(Ask(Operation::kModelReady, {{"key", "Value"}}).ok());
  EXPECT_FALSE(Ask(Operation::kModelReady, {{"key", "value "}}).ok());
  EXPECT_FALSE(Ask(Operation::kModelReady, {{"key", "no"}, {"key", "value"}}).ok());
  EXPECT_TRUE(Ask(Operation::kModelReady, {{"key", "value"}, {"key", "no"}}).ok());
  EXPECT_TRUE(Ask(Operation::kTraceRead, {{"other", ""}}).ok());
  EXPECT_FALSE(Ask(Operation::kTraceChange).ok());
  for (const Operation open : {Operation::kInfer, Operation::kMetrics, Operation::kReflection}) {
    EXPECT_TRUE(Ask(open).ok());
  }
  rules_.restricted_word = "protocol";
  EXPECT_EQ(Ask(Operation::kServerLive).refusal.text,
            "This protocol is restricted, expecting header 'Key'");
}

TEST_F(AccessGateTest, ARestrictionDoesNotReplaceARole) {
  UseRoles();
  rules_.restrictions = {{Category::kModelRepository, "key", "value"}};
  const std::vector<HeaderField> both = {{"key", "value"},
                                         {"authorization", tokens_.Bearer("manage")}};
  EXPECT_EQ(Ask(Operation::kModelLoad, {both[0]}).refusal.kind, RefusalKind::kUnauthenticated);
  EXPECT_EQ(Ask(Operation::kModelLoad, {both[1]}).refusal.kind, RefusalKind::kRestricted);
  EXPECT_TRUE(Ask(Operation::kModelLoad, both).ok());
}

TEST_F(AccessGateTest, ManagementElsewhere) {
  rules_.serves_management = false;
  for (size_t i = 0; i <= static_cast<size_t>(kLastOperation); ++i) {
    const auto operation = static_cast<Operation>(i);
    EXPECT_EQ(Ask(operation).ok(), !IsManagement(operation)) << FactsOf(operation).name;
  }
  EXPECT_EQ(Ask(Operation::kModelLoad).refusal.text,
            "this operation is served at the server's address for management only");
  UseRoles();
  EXPECT_EQ(AskAs("manage", Operation::kModelLoad).refusal.kind, RefusalKind::kForbidden);
  EXPECT_TRUE(AskAs("manage", Operation::kInfer).ok());
}

TEST_F(AccessGateTest, TheSecondQuestionKnowsTheRoles) {
  UseRoles();
  const AccessGate gate(rules_);
  const Admission observer = AskAs("observe", Operation::kTraceRead);
  ASSERT_TRUE(observer.ok());
  EXPECT_EQ(gate.Check(Operation::kTraceChange, observer.roles).kind, RefusalKind::kForbidden);
  const Admission manager = AskAs("manage", Operation::kTraceRead);
  EXPECT_FALSE(gate.Check(Operation::kTraceChange, manager.roles).refused());
}

TEST_F(AccessGateTest, FieldsThatItNeeds) {
  rules_.restrictions = {{Category::kHealth, "Key", "value"}};
  EXPECT_TRUE(AccessGate(rules_).NeedsField("kEy"));
  EXPECT_FALSE(AccessGate(rules_).NeedsField("authorization"));
  EXPECT_FALSE(AccessGate(rules_).IsSecret("authorization"));
  UseRoles();
  EXPECT_TRUE(AccessGate(rules_).NeedsField("Authorization"));
  EXPECT_TRUE(AccessGate(rules_).IsSecret("Authorization"));
  EXPECT_FALSE(AccessGate(rules_).IsSecret("key"));
}

TEST(RefusalKind, StatusOfEachProtocol) {
  EXPECT_EQ(HttpStatus(RefusalKind::kRestricted), 403);
  EXPECT_EQ(HttpStatus(RefusalKind::kUnauthenticated), 401);
  EXPECT_EQ(HttpStatus(RefusalKind::kForbidden), 403);
  EXPECT_EQ(GrpcStatus(RefusalKind::kRestricted), 14);
  EXPECT_EQ(GrpcStatus(RefusalKind::kUnauthenticated), 16);
  EXPECT_EQ(GrpcStatus(RefusalKind::kForbidden), 7);
}

}  // namespace
}  // namespace nereid::api

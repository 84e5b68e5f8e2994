// SPDX-License-Identifier: Apache-2.0
#include "api/access/parse_access.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid::api {
namespace {

const std::string kHash = "hmac-sha256:" + std::string(32, '0') + ":" + std::string(64, 'a');

std::string ErrorOf(const std::string& text) {
  const auto policy = ParseAccess(text);
  return policy.ok() ? "no error" : policy.status().message();
}

TEST(ParseAccess, EveryKindOfEntry) {
  const auto policy = ParseAccess(
      "# who may do what\n"
      "\n"
      "  token infer ci " +
      kHash +
      "\r\n"
      "token\tobserve,manage \t ops-1 " +
      kHash +
      "  \n"
      "subject observe CN=prometheus, O=Example \"Inc\"\n"
      "uid manage 0\n"
      "   # another comment\n"
      "gid infer 4294967295");
  ASSERT_TRUE(policy.ok()) << policy.status().message();
  const AccessPolicy::Grants& grants = (*policy)->grants();
  ASSERT_EQ(grants.tokens.size(), 2u);
  EXPECT_EQ(TokenLine("ops-1", grants.tokens.at("ops-1")), "token observe,manage ops-1 " + kHash);
  EXPECT_EQ(RoleWords(grants.tokens.at("ci").roles), "infer");
  EXPECT_EQ(RoleWords(grants.subjects.at("CN=prometheus, O=Example \"Inc\"")), "observe");
  EXPECT_EQ(RoleWords(grants.uids.at(0)), "manage");
  EXPECT_EQ(RoleWords(grants.gids.at(4294967295)), "infer");
}

TEST(ParseAccess, AnEmptyFileAdmitsNobody) {
  EXPECT_TRUE(ParseAccess("\xEF\xBB\xBF# a comment\n").ok()) << "the mark of an editor";
  const auto policy = ParseAccess("");
  ASSERT_TRUE(policy.ok());
  EXPECT_FALSE((*policy)->RolesOf({.uid = 0, .gid = 0}).has_value());
}

TEST(ParseAccess, ErrorsNameTheLine) {
  EXPECT_EQ(ErrorOf("# x\n\ntokens infer a b"),
            "line 3: unknown kind of entry 'tokens', expected token, subject, uid or gid");
  EXPECT_EQ(ErrorOf("token"), "line 1: unknown role '', expected infer, observe or manage");
  EXPECT_EQ(ErrorOf("token infer,root a b"),
            "line 1: unknown role 'root', expected infer, observe or manage");
  EXPECT_EQ(ErrorOf("token infer a.b " + kHash),
            "line 1: a token's name has 1 to 64 letters, digits, '-' and '_'. Got 'a.b'");
  const std::string bad_hash =
      "line 1: a token's hash has the form hmac-sha256:<32 digits>:<64 digits>, hexadecimal; "
      "'nereid token create' prints the line";
  EXPECT_EQ(ErrorOf("token infer ci"), bad_hash);
  EXPECT_EQ(ErrorOf("token infer ci " + kHash.substr(1)), bad_hash);
  EXPECT_EQ(ErrorOf("token infer ci " + kHash + " more"), bad_hash);
  EXPECT_EQ(ErrorOf("uid manage root"), "line 1: a uid is a number. Got 'root'");
  EXPECT_EQ(ErrorOf("uid manage -1"), "line 1: a uid is a number. Got '-1'");
  EXPECT_EQ(ErrorOf("gid manage 4294967296"), "line 1: a gid is a number. Got '4294967296'");
  EXPECT_EQ(ErrorOf("uid manage 1 2"), "line 1: a uid is a number. Got '1 2'");
  EXPECT_EQ(ErrorOf("subject manage  "), "line 1: the subject of the certificate is missing");
  EXPECT_EQ(ErrorOf("subject manage CN=a\r\r\n"),
            "line 1: the subject 'CN=a\r' has a control character: write it as '\\' and two "
            "hexadecimal digits");
  EXPECT_EQ(ErrorOf("uid infer 7\nuid manage 07\n"),
            "line 2: the uid '07' has an entry already: name all its roles in one line");
  EXPECT_EQ(ErrorOf("token infer a " + kHash + "\ntoken manage a " + kHash),
            "line 2: the token 'a' has an entry already: name all its roles in one line");
  EXPECT_EQ(ErrorOf("\xff infer"),
            "line 1: unknown kind of entry '\xef\xbf\xbd', expected token, subject, uid or gid");
}

}  // namespace
}  // namespace nereid::api

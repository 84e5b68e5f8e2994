// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/aws_profile.h"

#include <gtest/gtest.h>

namespace nereid::repository::storage {
namespace {

constexpr char kFile[] =
    "# a comment\n"
    "aws_access_key_id = before any section\n"
    "[default]\r\n"
    "aws_access_key_id=AKID\r\n"
    "AWS_Secret_Access_Key =  a=b/c+d==  \r\n"
    "region = us-west-2 # near\n"
    "s3 =\n"
    "  addressing_style = path\n"
    "\n"
    "; another\n"
    "[profile\t two]\n"
    "region = eu-central-1\n"
    "no setting\n"
    "[three\n"
    "region = never\n"
    "[default]\n"
    "region = us-west-1";

TEST(ParseAwsProfile, ReadsOneSection) {
  EXPECT_EQ(ParseAwsProfile(kFile, "default"), (AwsProfile{{"aws_access_key_id", "AKID"},
                                                           {"aws_secret_access_key", "a=b/c+d=="},
                                                           {"region", "us-west-1"},
                                                           {"s3", ""}}));
  EXPECT_EQ(ParseAwsProfile(kFile, "profile two"), (AwsProfile{{"region", "eu-central-1"}}));
  EXPECT_TRUE(ParseAwsProfile(kFile, "two").empty());
  EXPECT_TRUE(ParseAwsProfile(kFile, "profile default").empty());
  EXPECT_TRUE(ParseAwsProfile("", "default").empty());
  EXPECT_TRUE(ParseAwsProfile("[", "").empty());
}

}  // namespace
}  // namespace nereid::repository::storage

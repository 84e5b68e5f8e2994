// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/aws_signature.h"

#include <gtest/gtest.h>

#include "repository/storage/digests.h"

namespace nereid::repository::storage {
namespace {

/// A request and the signature that AWS has published for it.
struct Vector {
  const char* name;
  AwsRequest request;
  AwsScope scope;
  AwsKeys keys;
  const char* signed_fields;
  const char* signature;
};

const char* const kEmpty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// The first group is of AWS's test suite for Signature Version 4, the second one of the examples
/// in S3's API reference ("Signature Calculations for the Authorization Header").
std::vector<Vector> Vectors() {
  const AwsScope suite = {"us-east-1", "service", "20150830T123600Z"};
  const AwsKeys suite_keys = {"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};
  const curl::HttpFields suite_fields = {{"Host", "example.amazonaws.com"},
                                         {"X-Amz-Date", "20150830T123600Z"}};
  const auto suite_request = [&](std::string path, Parameters parameters,
                                 const curl::HttpFields& more) {
    AwsRequest request = {"GET", std::move(path), std::move(parameters), suite_fields, kEmpty};
    request.fields.insert(request.fields.end(), more.begin(), more.end());
    return request;
  };
  const std::string token = "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267";

  const AwsScope s3 = {"us-east-1", "s3", "20130524T000000Z"};
  const AwsKeys s3_keys = {"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};
  const curl::HttpFields s3_fields = {{"host", "examplebucket.s3.amazonaws.com"},
                                      {"x-amz-content-sha256", kEmpty},
                                      {"x-amz-date", "20130524T000000Z"}};
  curl::HttpFields s3_range = s3_fields;
  s3_range.emplace_back("Range", "bytes=0-9");
  return {
      {"get-vanilla", suite_request("/", {}, {}), suite, suite_keys, "host;x-amz-date",
       "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
      {"get-vanilla-query-order-key-case",
       suite_request("/", {{"Param2", "value2"}, {"Param1", "value1"}}, {}), suite, suite_keys,
       "host;x-amz-date", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
      {"get-vanilla-query-order-encoded",
       suite_request("/", {{"Param-3", "Value3"}, {"Param", "Value2"}, {"\xE1\x88\xB4", "Value1"}},
                     {}),
       suite, suite_keys, "host;x-amz-date",
       "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac"},
      {"get-vanilla-utf8-query", suite_request("/", {{"\xE1\x88\xB4", "bar"}}, {}), suite,
       suite_keys, "host;x-amz-date",
       "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"},
      {"get-slashes-unnormalized", suite_request("//example//", {}, {}), suite, suite_keys,
       "host;x-amz-date", "87cca117541a147f6df867677d98a7d80dff226d2bfca9e4ffa899665623c7e5"},
      {"get-header-value-trim",
       suite_request("/", {}, {{"My-Header1", " value1"}, {"My-Header2", " \"a   b   c\""}}), suite,
       suite_keys, "host;my-header1;my-header2;x-amz-date",
       "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
      {"get-vanilla-with-session-token", suite_request("/", {}, {{"X-Amz-Security-Token", token}}),
       suite, suite_keys, "host;x-amz-date;x-amz-security-token",
       "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8"},
      {"S3 GET Object",
       {"GET", "/test.txt", {}, s3_range, kEmpty},
       s3,
       s3_keys,
       "host;range;x-amz-content-sha256;x-amz-date",
       "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
      {"S3 GET Bucket Lifecycle",
       {"GET", "/", {{"lifecycle", ""}}, s3_fields, kEmpty},
       s3,
       s3_keys,
       "host;x-amz-content-sha256;x-amz-date",
       "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
      {"S3 Get Bucket (List Objects)",
       {"GET", "/", {{"max-keys", "2"}, {"prefix", "J"}}, s3_fields, kEmpty},
       s3,
       s3_keys,
       "host;x-amz-content-sha256;x-amz-date",
       "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
  };
}

TEST(AwsAuthorization, EqualsThePublishedSignatures) {
  for (const Vector& v : Vectors()) {
    const std::string date = v.scope.time.substr(0, 8);
    EXPECT_EQ(AwsAuthorization(v.request, v.scope, v.keys),
              "AWS4-HMAC-SHA256 Credential=" + v.keys.key_id + "/" + date + "/us-east-1/" +
                  v.scope.service + "/aws4_request, SignedHeaders=" + v.signed_fields +
                  ", Signature=" + v.signature)
        << v.name;
  }
}

}  // namespace
}  // namespace nereid::repository::storage

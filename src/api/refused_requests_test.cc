// SPDX-License-Identifier: Apache-2.0
#include "api/refused_requests.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace nereid::api {
namespace {

using base::StatusCode;

std::map<std::string, uint64_t> Texts(const RefusedRequests& refused) {
  std::map<std::string, uint64_t> texts;
  refused.Visit([&](const RefusedRequests::Series& series) {
    texts[std::string(series.front_end) + " " + std::to_string(series.status) + " " +
          std::string(series.reason)] += series.count;
  });
  return texts;
}

TEST(RefusedRequests, TheUsualSeriesExistFromTheStart) {
  EXPECT_EQ(Texts(RefusedRequests()),
            (std::map<std::string, uint64_t>{{"http 400 malformed", 0},
                                             {"http 400 invalid", 0},
                                             {"http 404 unknown_model", 0},
                                             {"http 503 unavailable", 0},
                                             {"grpc 3 malformed", 0},
                                             {"grpc 3 invalid", 0},
                                             {"grpc 5 unknown_model", 0},
                                             {"grpc 14 unavailable", 0}}));
}

TEST(RefusedRequests, CountsByFrontEndStatusAndReason) {
  RefusedRequests refused;
  refused.Count(FrontEnd::kHttp, RefusedAt::kMessage, StatusCode::kInvalidArgument);
  refused.Count(FrontEnd::kHttp, RefusedAt::kMessage, StatusCode::kInvalidArgument);
  refused.Count(FrontEnd::kHttp, RefusedAt::kSubmission, StatusCode::kInvalidArgument);
  refused.Count(FrontEnd::kHttp, RefusedAt::kDeadline, StatusCode::kInvalidArgument);
  refused.Count(FrontEnd::kGrpc, RefusedAt::kSubmission, StatusCode::kNotFound);
  refused.Count(FrontEnd::kGrpc, RefusedAt::kDeadline, StatusCode::kCancelled);
  refused.Count(FrontEnd::kSagemaker, RefusedAt::kSubmission, StatusCode::kInternal);
  refused.Count(FrontEnd::kSagemaker, RefusedAt::kMessage, StatusCode::kInternal);
  const auto texts = Texts(refused);
  EXPECT_EQ(texts.at("http 400 malformed"), 2u);
  EXPECT_EQ(texts.at("http 400 invalid"), 1u);
  EXPECT_EQ(texts.at("http 504 deadline"), 1u);
  EXPECT_EQ(texts.at("grpc 5 unknown_model"), 1u);
  EXPECT_EQ(texts.at("grpc 4 deadline"), 1u);
  EXPECT_EQ(texts.at("sagemaker 500 other"), 1u);
  EXPECT_EQ(texts.at("sagemaker 500 malformed"), 1u);
  EXPECT_EQ(texts.size(), 8u + 4u);
}

}  // namespace
}  // namespace nereid::api

// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/transfer_codings.h"

#include <gtest/gtest.h>

#include <vector>

namespace nereid::frontend::http {
namespace {

int Status(const std::vector<std::string_view>& fields, bool is_http_1_0 = false) {
  TransferCodings codings;
  for (const std::string_view field : fields) codings.Add(field);
  return codings.Check(is_http_1_0).status;
}

TEST(TransferCodings, OnlyChunkedIsRead) {
  EXPECT_EQ(Status({}), 0);
  EXPECT_EQ(Status({}, true), 0);
  for (const char* field : {"chunked", "Chunked", " CHUNKED\t", ",chunked,", "chunked, "}) {
    EXPECT_EQ(Status({field}), 0) << field;
    EXPECT_EQ(Status({field}, true), 400) << field;
  }
}

TEST(TransferCodings, AnUnknownEndIsAnError) {
  for (const char* field :
       {"", ",", "identity", "gzip", "xchunked", "chunkedx", "chunked;q=1", "chunked, identity",
        "chunked, chunked", "chunked gzip", "\"chunked\""}) {
    EXPECT_EQ(Status({field}), 400) << field;
  }
  EXPECT_EQ(Status({"chunked", "gzip"}), 400);
  EXPECT_EQ(Status({"chunked", "chunked"}), 400);
  EXPECT_EQ(Status({"chunked", "gzip, chunked"}), 400);
}

TEST(TransferCodings, AnUnknownCodingUnderChunkedIsNotSupported) {
  for (const char* field : {"gzip, chunked", "identity,chunked", "x , y, Chunked"}) {
    EXPECT_EQ(Status({field}), 501) << field;
  }
  EXPECT_EQ(Status({"gzip", "chunked"}), 501);
}

}  // namespace
}  // namespace nereid::frontend::http

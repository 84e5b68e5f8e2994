// SPDX-License-Identifier: Apache-2.0
#include "memory/shared/region_range.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid::memory {
namespace {

TEST(RegionRangeTest, EveryPartOfTheRegionIsAccepted) {
  EXPECT_TRUE(CheckRegionRange("r", 100, 0, 100).ok());
  EXPECT_TRUE(CheckRegionRange("r", 100, 99, 1).ok());
  EXPECT_TRUE(CheckRegionRange("r", 100, 50, 0).ok());
  EXPECT_TRUE(CheckRegionRange("r", UINT64_MAX, UINT64_MAX - 1, 1).ok());
}

TEST(RegionRangeTest, NothingOutsideOfTheRegionIsAccepted) {
  struct Row {
    uint64_t region_size, offset, byte_size;
    const char* text;
  };
  const char* const offset = "Invalid offset for shared memory region: 'r'";
  const char* const end = "Invalid offset + byte size for shared memory region: 'r'";
  const Row rows[] = {
      {100, 100, 0, offset},
      {100, 101, 1, offset},
      {100, UINT64_MAX, UINT64_MAX, offset},
      {100, UINT64_MAX, 1, offset},
      {0, 0, 0, offset},
      {100, 0, 101, end},
      {100, 99, 2, end},
      {100, 0, UINT64_MAX, end},
      {100, 1, UINT64_MAX - 1, end},
      {100, 1, UINT64_MAX,
       "Integer overflow detected: byte_size (18446744073709551615) + offset (1) exceeds maximum "
       "value (18446744073709551615) for region 'r'"},
      {100, 99, UINT64_MAX - 98,
       "Integer overflow detected: byte_size (18446744073709551517) + offset (99) exceeds maximum "
       "value (18446744073709551615) for region 'r'"},
  };
  for (const Row& row : rows) {
    const base::Status status = CheckRegionRange("r", row.region_size, row.offset, row.byte_size);
    EXPECT_EQ(status.code(), base::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), row.text) << row.offset << " " << row.byte_size;
  }
}

}  // namespace
}  // namespace nereid::memory

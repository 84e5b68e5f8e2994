// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/library.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace nereid::tensorrt {
namespace {

TEST(Versions, AreWrittenInTwoWays) {
  EXPECT_EQ(VersionText(8601), "8.6.1");
  EXPECT_EQ(VersionText(9200), "9.2.0");
  EXPECT_EQ(VersionText(100001), "10.0.1");
  EXPECT_EQ(VersionText(101601), "10.16.1");
  EXPECT_EQ(VersionText(110400), "11.4.0");
}

TEST(Versions, ALibraryIsOfTheSameMajorVersionAndNotOlder) {
  EXPECT_EQ(WhyUnfit(101601, 101601), "");
  EXPECT_EQ(WhyUnfit(101601, 100001), "");
  EXPECT_EQ(WhyUnfit(101600, 101601), "");
  EXPECT_EQ(WhyUnfit(100901, 101601),
            "it is TensorRT 10.9.1, but this plug-in was compiled for TensorRT 10.16 or newer of "
            "the same major version");
  EXPECT_NE(WhyUnfit(110100, 101601), "");
  EXPECT_NE(WhyUnfit(8601, 101601), "");
}

// In a process of its own, because a library that was opened stays open.
TEST(LibraryDeathTest, NoLibraryGivesOneErrorWithAllReasons) {
  EXPECT_EXIT(
      {
        setenv("NEREID_TENSORRT_LIBRARY", "libc.so.6", 1);
        const TensorRtLibrary* library = nullptr;
        const Error error = TensorRtLibrary::Get("/nowhere", &library);
        fprintf(stderr, "%s", error.message().c_str());
        exit(3);
      },
      ::testing::ExitedWithCode(3),
      "TensorRT cannot be opened; install NVIDIA's package libnvinfer10, or put libnvinfer.so.10 "
      "into /nowhere. Tried:\n  libc.so.6: it is not a runtime of TensorRT");
}

}  // namespace
}  // namespace nereid::tensorrt

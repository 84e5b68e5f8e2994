// SPDX-License-Identifier: Apache-2.0
#include "warp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace nereid::ocr {
namespace {

TEST(Warp, KeepsPixelsInThePlanesBlueGreenRed) {
  const std::vector<uint8_t> pixels = {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255};
  std::vector<float> out(12);
  Warp({pixels.data(), 2, 2}, {{0, 0}, {2, 0}, {0, 2}}, 2, 2, {out.data(), 2, 4});
  EXPECT_EQ(out, (std::vector<float>{-1, -1, 1, 1, -1, 1, -1, 1, 1, -1, -1, 1}));
}

TEST(Pyramid, ShrinksToTheMeanAndGoesOnBeyondTheBorder) {
  std::vector<uint8_t> pixels;
  for (int i = 0; i < 16; ++i) {
    pixels.insert(pixels.end(), 3, i % 2 == 0 ? 255 : 0);
  }
  std::vector<float> out(3);
  Pyramid pyramid({pixels.data(), 4, 4});
  pyramid.Warp({{0, 0}, {4, 0}, {0, 4}}, 1, 1, {out.data(), 1, 1});
  EXPECT_NEAR(out[0], 0, 0.01);  // halves are bytes
  pyramid.Warp({{-30, -30}, {1, 0}, {0, 1}}, 1, 1, {out.data(), 1, 1});
  EXPECT_NEAR(out[0], 1, 1e-5);
}

// Returns the only pixel of a frame of a 4 x 4 image that is black except for one white pixel.
float SeenAt(const Frame& frame, size_t white_row, size_t white_column) {
  std::vector<uint8_t> pixels(4 * 4 * 3, 0);
  std::fill_n(pixels.begin() + static_cast<ptrdiff_t>((white_row * 4 + white_column) * 3), 3, 255);
  std::vector<float> out(3);
  Warp({pixels.data(), 4, 4}, frame, 1, 1, {out.data(), 1, 1});
  return (out[0] + 1) / 2;
}

TEST(Warp, InterpolatesBetweenTheMiddlesOfPixels) {
  EXPECT_NEAR(SeenAt({{1, 1}, {1, 0}, {0, 1}}, 1, 1), 1, 0.01);
  EXPECT_NEAR(SeenAt({{1.25F, 1}, {1, 0}, {0, 1}}, 1, 1), 0.75, 0.01);
  EXPECT_NEAR(SeenAt({{1, 1.25F}, {1, 0}, {0, 1}}, 1, 1), 0.75, 0.01);
  EXPECT_NEAR(SeenAt({{1.5F, 1.5F}, {1, 0}, {0, 1}}, 2, 2), 0.25, 0.01);
  // The last row and column, after which there is no memory.
  EXPECT_NEAR(SeenAt({{3, 3}, {1, 0}, {0, 1}}, 3, 3), 1, 0.01);
  EXPECT_NEAR(SeenAt({{2.5F, 3}, {1, 0}, {0, 1}}, 3, 3), 0.5, 0.01);
}

TEST(Warp, FollowsTheSidesOfAFrame) {
  // A quarter turn: the vertical direction of the image is the horizontal one of the result.
  const std::vector<uint8_t> pixels = {0, 0, 0, 80, 80, 80, 160, 160, 160, 240, 240, 240};
  std::vector<float> out(12);
  Warp({pixels.data(), 2, 2}, {{2, 0}, {0, 2}, {-2, 0}}, 2, 2, {out.data(), 2, 4});
  const std::vector<float> first(out.begin(), out.begin() + 4);
  const auto seen = [](double value) { return static_cast<float>(value / 127.5 - 1); };
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(first[i], seen(std::vector<double>{80, 240, 0, 160}[i]), 0.01);
  }
}

TEST(Warp, TakesFramesFromAnywhere) {
  const std::vector<uint8_t> pixels(5 * 3 * 3, 255);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  for (const Point origin :
       {Point{-1e30F, 1e30F}, Point{inf, -inf}, Point{nan, nan}, Point{2, 4}}) {
    for (const Point side : {Point{0, 0}, Point{1e38F, -1e38F}, Point{nan, 1}, Point{-inf, 0}}) {
      for (const size_t columns : {1U, 7U, 48U}) {
        std::vector<float> out(3 * 2 * columns, 5);
        Pyramid({pixels.data(), 5, 3})
            .Warp({origin, side, side}, 2, columns, {out.data(), columns, 2 * columns});
        for (const float value : out) {
          ASSERT_NEAR(value, 1, 1e-5);
        }
      }
    }
  }
}

TEST(Pyramid, HalvesImagesOfOneRowOrColumn) {
  const std::vector<uint8_t> pixels(33 * 3, 255);
  for (const Image& image : {Image{pixels.data(), 1, 33}, Image{pixels.data(), 33, 1}}) {
    std::vector<float> out(3 * 4);
    Pyramid pyramid(image);
    pyramid.Warp({{0, 0}, {33, 0}, {0, 33}}, 2, 2, {out.data(), 2, 4});
    EXPECT_EQ(out, std::vector<float>(12, 1));
  }
}

TEST(Pyramid, SeesEveryPixelOfAPatternThatIsMadeMuchSmaller) {
  // Every eighth column is white: without some of the pixels, a reduction by eight would be white
  // or black.
  std::vector<uint8_t> pixels;
  for (size_t i = 0; i < 64 * 64; ++i) {
    pixels.insert(pixels.end(), 3, i % 8 == 0 ? 255 : 0);
  }
  std::vector<float> out(3 * 8 * 8);
  Pyramid pyramid({pixels.data(), 64, 64});
  pyramid.Warp({{0, 0}, {64, 0}, {0, 64}}, 8, 8, {out.data(), 8, 64});
  for (const float value : out) {
    EXPECT_NEAR((value + 1) / 2, 0.125, 0.02);
  }
}

}  // namespace
}  // namespace nereid::ocr

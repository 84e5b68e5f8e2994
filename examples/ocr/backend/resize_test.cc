// SPDX-License-Identifier: Apache-2.0
#include "resize.h"

#include <gtest/gtest.h>

#include <vector>

namespace nereid::ocr {
namespace {

// Gray pixels. The result has three equal planes; the first one is checked.
struct Gray {
  size_t rows = 0;
  size_t columns = 0;
  std::vector<uint8_t> values;

  std::vector<float> Resized(size_t to_rows, size_t to_columns) const {
    std::vector<uint8_t> pixels;
    for (const uint8_t value : values) {
      pixels.insert(pixels.end(), 3, value);
    }
    const size_t plane = to_rows * to_columns;
    std::vector<float> out(3 * plane, 99);
    Resize({pixels.data(), rows, columns}, to_rows, to_columns, {out.data(), to_columns, plane});
    const std::vector<float> first(out.begin(), out.begin() + static_cast<ptrdiff_t>(plane));
    EXPECT_EQ(std::vector<float>(out.end() - static_cast<ptrdiff_t>(plane), out.end()), first);
    return first;
  }
};

// Returns a gray value in the form of the models.
float Seen(double value) { return static_cast<float>(value / 127.5 - 1); }

void ExpectNear(const std::vector<float>& found, const std::vector<float>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 0.005) << "number " << i;
  }
}

TEST(Resize, KeepsPixelsInThePlanesBlueGreenRed) {
  const std::vector<uint8_t> pixels = {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255};
  std::vector<float> out(12);
  Resize({pixels.data(), 2, 2}, 2, 2, {out.data(), 2, 4});
  EXPECT_EQ(out, (std::vector<float>{-1, -1, 1, 1, -1, 1, -1, 1, 1, -1, -1, 1}));
}

TEST(Resize, InterpolatesBetweenTheMiddlesOfPixels) {
  const Gray row{1, 2, {0, 200}};
  ExpectNear(row.Resized(1, 4), {Seen(0), Seen(50), Seen(150), Seen(200)});
  const Gray column{2, 1, {0, 200}};
  ExpectNear(column.Resized(4, 1), {Seen(0), Seen(50), Seen(150), Seen(200)});
}

TEST(Resize, TakesTheMeanWhereASideShrinksToHalfOrLess) {
  ExpectNear(Gray{1, 6, {0, 30, 60, 200, 220, 240}}.Resized(1, 2), {Seen(30), Seen(220)});
  ExpectNear(Gray{5, 1, {10, 20, 90, 100, 110}}.Resized(2, 1), {Seen(15), Seen(100)});
  // One side becomes smaller, the other one larger.
  ExpectNear(Gray{1, 4, {0, 100, 200, 100}}.Resized(2, 2),
             {Seen(50), Seen(150), Seen(50), Seen(150)});
}

TEST(Resize, WritesWhatIsNoMultipleOfTheLanesAndNothingBeside) {
  const Gray image{3, 3, std::vector<uint8_t>(9, 255)};
  for (size_t columns = 1; columns < 10; ++columns) {
    ExpectNear(image.Resized(2, columns), std::vector<float>(2 * columns, 1));
  }
  const std::vector<uint8_t> pixels(27, 255);
  std::vector<float> wide(3 * 2 * 8, 7);
  Resize({pixels.data(), 3, 3}, 2, 5, {wide.data(), 8, 16});
  for (size_t i = 0; i < wide.size(); ++i) {
    EXPECT_FLOAT_EQ(wide[i], i % 8 < 5 ? 1 : 7) << "number " << i;
  }
}

TEST(Resize, TakesASinglePixelAndVeryLongSides) {
  ExpectNear(Gray{1, 1, {255}}.Resized(3, 3), std::vector<float>(9, 1));
  // So many pixels become one that their sum would not fit into 16 bits.
  ExpectNear(Gray{1, 100'000, std::vector<uint8_t>(100'000, 255)}.Resized(1, 3), {1, 1, 1});
  ExpectNear(Gray{100'000, 1, std::vector<uint8_t>(100'000, 255)}.Resized(3, 1), {1, 1, 1});
}

}  // namespace
}  // namespace nereid::ocr

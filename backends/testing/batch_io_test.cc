// SPDX-License-Identifier: Apache-2.0
// The parts of the kit that put requests together and take outputs apart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nereid/backend/batch_input.h"
#include "nereid/backend/batch_output.h"
#include "nereid/backend/input.h"

namespace nereid::backend {
namespace {

using ::testing::HasSubstr;
using Kind = BatchInputKind;
using Shape = std::vector<int64_t>;

struct Made {
  std::string failure;
  Shape shape;
  std::vector<int32_t> ints;
  std::vector<float> floats;
};

Made Make(Kind kind, const std::vector<Shape>& sources, int64_t room = -1,
          TRITONSERVER_DataType type = TRITONSERVER_TYPE_INT32) {
  const std::vector<ShapeView> views(sources.begin(), sources.end());
  AlignedBuffer buffer;
  Made made;
  size_t size = 0;
  const Error error =
      MakeBatchInput({kind, {"target"}, type, "source"}, views, room, &buffer, &made.shape, &size);
  made.failure = error.message();
  if (error.ok()) {
    EXPECT_EQ(static_cast<int64_t>(size), 4 * ElementCount(made.shape));
    made.ints.resize(size / 4);
    made.floats.resize(size / 4);
    if (size != 0) {
      std::memcpy(made.ints.data(), buffer.Reserve(0), size);
      std::memcpy(made.floats.data(), buffer.Reserve(0), size);
    }
  }
  return made;
}

// The example of the documentation: three requests of 3, 4 and 5 elements.
const std::vector<Shape> kThree = {{1, 3}, {1, 4}, {1, 5}};

TEST(BatchInputTest, ElementCounts) {
  const Made made = Make(Kind::kElementCount, kThree);
  EXPECT_EQ(made.shape, Shape{3});
  EXPECT_EQ(made.ints, (std::vector<int32_t>{3, 4, 5}));
}

TEST(BatchInputTest, AccumulatedElementCounts) {
  const Made made = Make(Kind::kAccumulatedElementCount, kThree);
  EXPECT_EQ(made.shape, Shape{3});
  EXPECT_EQ(made.ints, (std::vector<int32_t>{3, 7, 12}));
}

TEST(BatchInputTest, AccumulatedElementCountsWithZero) {
  const Made made = Make(Kind::kAccumulatedElementCountWithZero, kThree);
  EXPECT_EQ(made.shape, Shape{4});
  EXPECT_EQ(made.ints, (std::vector<int32_t>{0, 3, 7, 12}));
}

TEST(BatchInputTest, MaxElementCountAsShape) {
  const Made made = Make(Kind::kMaxElementCountAsShape, {{1, 3}, {2, 4}, {1, 5}});
  EXPECT_EQ(made.shape, Shape{8});
  EXPECT_EQ(made.ints, std::vector<int32_t>(8, 0));
}

TEST(BatchInputTest, ItemShapesAreRepeatedForEachItem) {
  const Made made = Make(Kind::kItemShape, {{1, 3, 9}, {2, 4, 8}});
  EXPECT_EQ(made.shape, (Shape{3, 2}));
  EXPECT_EQ(made.ints, (std::vector<int32_t>{3, 9, 4, 8, 4, 8}));
}

TEST(BatchInputTest, ItemShapesFlat) {
  const Made made = Make(Kind::kItemShapeFlatten, {{1, 3, 9}, {2, 4, 8}});
  EXPECT_EQ(made.shape, Shape{6});
  EXPECT_EQ(made.ints, (std::vector<int32_t>{3, 9, 4, 8, 4, 8}));
}

TEST(BatchInputTest, ElementsIncludeTheBatchDimension) {
  EXPECT_EQ(Make(Kind::kElementCount, {{2, 3}, {1, 4}}).ints, (std::vector<int32_t>{6, 4}));
}

TEST(BatchInputTest, Floats) {
  EXPECT_EQ(Make(Kind::kAccumulatedElementCountWithZero, kThree, -1, TRITONSERVER_TYPE_FP32).floats,
            (std::vector<float>{0, 3, 7, 12}));
  EXPECT_EQ(Make(Kind::kItemShape, {{1, 7}}, -1, TRITONSERVER_TYPE_FP32).floats,
            (std::vector<float>{7}));
}

TEST(BatchInputTest, AFixedSizeIsFilledUp) {
  EXPECT_EQ(Make(Kind::kElementCount, kThree, 5).ints, (std::vector<int32_t>{3, 4, 5, 0, 0}));
  EXPECT_EQ(Make(Kind::kAccumulatedElementCount, kThree, 5).ints,
            (std::vector<int32_t>{3, 7, 12, 12, 12}));
  EXPECT_EQ(Make(Kind::kAccumulatedElementCountWithZero, kThree, 5).ints,
            (std::vector<int32_t>{0, 3, 7, 12, 12}));
  EXPECT_THAT(Make(Kind::kAccumulatedElementCountWithZero, kThree, 3).failure,
              HasSubstr("has 3 requests, but the batch_input of 'source' has room for 3 values"));
}

TEST(BatchInputTest, ZeroElements) {
  EXPECT_EQ(Make(Kind::kElementCount, {{1, 0}, {1, 2}}).ints, (std::vector<int32_t>{0, 2}));
  EXPECT_EQ(Make(Kind::kMaxElementCountAsShape, {{1, 0}}).shape, Shape{0});
  const Made none = Make(Kind::kItemShape, {{2}, {1}});
  EXPECT_EQ(none.shape, (Shape{3, 0}));
  EXPECT_TRUE(none.ints.empty());
}

TEST(BatchInputTest, HostileShapes) {
  for (const Kind kind :
       {Kind::kElementCount, Kind::kAccumulatedElementCount, Kind::kAccumulatedElementCountWithZero,
        Kind::kItemShape, Kind::kItemShapeFlatten, Kind::kMaxElementCountAsShape}) {
    EXPECT_NE(Make(kind, {{1, -1}}).failure, "");
    EXPECT_NE(Make(kind, {{INT64_MAX, 2}}).failure, "");
    EXPECT_NE(Make(kind, {{INT64_MAX}, {INT64_MAX}}).failure, "");
  }
  EXPECT_THAT(Make(Kind::kElementCount, {{1, int64_t{1} << 31}}).failure, HasSubstr("too large"));
  EXPECT_THAT(Make(Kind::kAccumulatedElementCount, {{INT32_MAX}, {1}}).failure,
              HasSubstr("too large"));
  EXPECT_THAT(Make(Kind::kItemShape, {{int64_t{1} << 40, 0}}).failure, HasSubstr("too large"));
  EXPECT_THAT(Make(Kind::kItemShape, {{1, 2}, {1, 2, 3}}).failure,
              HasSubstr("one rank above 0 in all requests, not [1,2] and [1,2,3]"));
  EXPECT_NE(Make(Kind::kItemShape, {{}}).failure, "");
  EXPECT_THAT(Make(Kind::kUnknown, kThree).failure, HasSubstr("unknown kind"));
  EXPECT_THAT(Make(Kind::kElementCount, kThree, -1, TRITONSERVER_TYPE_INT64).failure,
              HasSubstr("TYPE_INT32 or TYPE_FP32"));
}

struct Cut {
  std::string failure;
  std::vector<OutputPart> parts;
};

Cut Scatter(const Shape& dims, const std::vector<Shape>& sources, int64_t total) {
  const std::vector<ShapeView> views(sources.begin(), sources.end());
  Cut cut;
  cut.failure = ScatterWithInputShape("y", dims, views, total, &cut.parts).message();
  return cut;
}

TEST(BatchOutputTest, VariableDimensionsComeFromTheSource) {
  const Cut cut = Scatter({-1, -1, 2}, {{1, 3}, {2, 1}}, 10);
  ASSERT_EQ(cut.failure, "");
  ASSERT_EQ(cut.parts.size(), 2u);
  EXPECT_EQ(cut.parts[0].shape, (Shape{1, 3, 2}));
  EXPECT_EQ(cut.parts[0].first, 0);
  EXPECT_EQ(cut.parts[0].count, 6);
  EXPECT_EQ(cut.parts[1].shape, (Shape{2, 1, 2}));
  EXPECT_EQ(cut.parts[1].first, 6);
  EXPECT_EQ(cut.parts[1].count, 4);
}

TEST(BatchOutputTest, PartsMayBeEmpty) {
  const Cut cut = Scatter({-1, -1}, {{1, 0}, {1, 2}, {1, 0}}, 2);
  ASSERT_EQ(cut.failure, "");
  EXPECT_EQ(cut.parts[1].first, 0);
  EXPECT_EQ(cut.parts[2].first, 2);
  EXPECT_EQ(cut.parts[2].shape, (Shape{1, 0}));
}

TEST(BatchOutputTest, PartsThatDoNotAddUp) {
  EXPECT_EQ(Scatter({-1, -1}, {{1, 3}, {1, 4}}, 6).failure,
            "output 'y' has 6 elements, but the 2 requests of the batch need 7");
  EXPECT_EQ(Scatter({-1, -1}, {{1, 3}, {1, 4}}, 8).failure,
            "output 'y' has 8 elements, but the 2 requests of the batch need 7");
  EXPECT_NE(Scatter({-1, -1}, {{INT64_MAX, 2}}, 8).failure, "");
  EXPECT_NE(Scatter({-1}, {{INT64_MAX}, {INT64_MAX}}, 8).failure, "");
  EXPECT_NE(Scatter({-1, -1}, {{1, -1}}, -1).failure, "");
}

TEST(BatchOutputTest, ASourceOfTooLowRank) {
  EXPECT_EQ(Scatter({-1, 4, -1}, {{1, 3}}, 12).failure,
            "output 'y' of shape [-1,4,-1] takes dimension 2 of its source input, whose shape is "
            "[1,3]");
}

TEST(BatchOutputTest, AlongTheBatch) {
  std::vector<OutputPart> parts;
  const Shape shape = {3, 2};
  const Shape sizes = {1, 2};
  ASSERT_TRUE(ScatterAlongBatch("y", shape, sizes, &parts).ok());
  EXPECT_EQ(parts[1].shape, (Shape{2, 2}));
  EXPECT_EQ(parts[1].first, 2);
  const Shape too_few = {1, 1};
  EXPECT_FALSE(ScatterAlongBatch("y", shape, too_few, &parts).ok());
  EXPECT_FALSE(ScatterAlongBatch("y", {}, sizes, &parts).ok());
}

class ShapesTest : public ::testing::Test {
 protected:
  static Input Of(const Shape& shape) {
    Input input;
    input.name = "x";
    input.shape = shape;
    return input;
  }
  Shape shape_;
};

TEST_F(ShapesTest, AlongTheBatchDimension) {
  const Shape a = {1, 3}, b = {2, 3}, c = {1, 4}, none = {}, huge = {INT64_MAX, 3};
  const Input fit[] = {Of(a), Of(b)};
  ASSERT_TRUE(ConcatenatedShape(fit, &shape_).ok());
  EXPECT_EQ(shape_, (Shape{3, 3}));
  const Input differ[] = {Of(a), Of(c)};
  EXPECT_EQ(ConcatenatedShape(differ, &shape_).message(),
            "the requests of the batch have different shapes of input 'x': [1,3] and [1,4]");
  const Input flat[] = {Of(a), Of(none)};
  EXPECT_FALSE(ConcatenatedShape(flat, &shape_).ok());
  const Input overflow[] = {Of(a), Of(huge)};
  EXPECT_FALSE(ConcatenatedShape(overflow, &shape_).ok());
}

TEST_F(ShapesTest, Flat) {
  const Shape a = {1, 3}, b = {2, 2, 2}, zero = {1, 0}, bad = {-1}, huge = {INT64_MAX};
  const Input fit[] = {Of(a), Of(b), Of(zero)};
  ASSERT_TRUE(FlattenedShape(fit, &shape_).ok());
  EXPECT_EQ(shape_, Shape{11});
  const Input negative[] = {Of(a), Of(bad)};
  EXPECT_FALSE(FlattenedShape(negative, &shape_).ok());
  const Input overflow[] = {Of(a), Of(huge)};
  EXPECT_FALSE(FlattenedShape(overflow, &shape_).ok());
}

}  // namespace
}  // namespace nereid::backend

// SPDX-License-Identifier: Apache-2.0
#include "ensemble/adapt_shape.h"

#include <gtest/gtest.h>

namespace nereid::ensemble {
namespace {

using tensor::Shape;

Shape Adapt(const Shape& shape, bool from, const Shape& dims, bool to) {
  return AdaptShape(shape, from, dims, to);
}

TEST(AdaptShapeTest, BetweenModelsOfOneKindNothingChanges) {
  EXPECT_EQ(Adapt({3, 4}, true, {4}, true), (Shape{3, 4}));
  EXPECT_EQ(Adapt({9}, false, {4}, false), (Shape{9}));
}

TEST(AdaptShapeTest, ABatchOfOneIsAddedWhereTheShapeHasNone) {
  EXPECT_EQ(Adapt({4}, false, {4}, true), (Shape{1, 4}));
  EXPECT_EQ(Adapt({7}, false, {-1}, true), (Shape{1, 7}));
  EXPECT_EQ(Adapt({2, 4}, false, {4}, true), (Shape{2, 4}));
  EXPECT_EQ(Adapt({}, false, {}, true), (Shape{1}));
}

TEST(AdaptShapeTest, ABatchGoesAsItIsWhereItFits) {
  EXPECT_EQ(Adapt({2, 4}, true, {-1, 4}, false), (Shape{2, 4}));
  EXPECT_EQ(Adapt({1, 4}, true, {-1, 4}, false), (Shape{1, 4}));
}

TEST(AdaptShapeTest, ABatchOfOneIsTakenAwayAndALargerOneIsNot) {
  EXPECT_EQ(Adapt({1, 4}, true, {4}, false), (Shape{4}));
  EXPECT_EQ(Adapt({2, 4}, true, {4}, false), (Shape{2, 4}));
}

TEST(ShapePatternTest, ABatchOfAnySizeStandsInFront) {
  EXPECT_EQ(ShapePattern(Shape{4, -1}, true), (Shape{-1, 4, -1}));
  EXPECT_EQ(ShapePattern(Shape{4, -1}, false), (Shape{4, -1}));
}

}  // namespace
}  // namespace nereid::ensemble

// SPDX-License-Identifier: Apache-2.0
#include "text_boxes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "marked_map.h"

namespace nereid::ocr {
namespace {

TEST(TextBoxes, AreGrownAndUpright) {
  MarkedMap map{100, 200};
  map.Mark({100, 50}, 80, 10, 0, 0.9F);
  BoxRules rules;
  rules.unclip = 1.8F;
  const std::vector<TextBox> boxes = map.Boxes(rules);
  ASSERT_EQ(boxes.size(), 1u);
  EXPECT_NEAR(boxes[0].score, 0.9F, 1e-5);
  const float grow = 80 * 10 * 1.8F / 180;
  EXPECT_FLOAT_EQ(boxes[0].corners[0].x, 60 - grow);
  EXPECT_FLOAT_EQ(boxes[0].corners[0].y, 45 - grow);
  EXPECT_FLOAT_EQ(boxes[0].corners[2].x, 140 + grow);
  EXPECT_FLOAT_EQ(boxes[0].corners[2].y, 55 + grow);
}

TEST(TextBoxes, FollowASlant) {
  BoxRules rules;
  rules.unclip = 0;
  for (const float degrees : {-40.0F, -12.0F, 7.0F, 30.0F}) {
    MarkedMap map{300, 300};
    map.Mark({150, 150}, 200, 30, degrees, 0.8F);
    const std::vector<TextBox> boxes = map.Boxes(rules);
    ASSERT_EQ(boxes.size(), 1u);
    const auto& corners = boxes[0].corners;
    const Point side{corners[1].x - corners[0].x, corners[1].y - corners[0].y};
    EXPECT_NEAR(std::atan2(side.y, side.x) * 180 / M_PI, degrees, 1.5);
    EXPECT_NEAR(std::hypot(side.x, side.y), 200, 4);
    EXPECT_NEAR(std::hypot(corners[3].x - corners[0].x, corners[3].y - corners[0].y), 30, 4);
  }
}

TEST(TextBoxes, LeaveOutWhatIsUnsureASpeckOrNotANumber) {
  MarkedMap map{100, 100};
  map.Mark({20, 20}, 20, 10, 0, 0.4F);
  map.Mark({60, 20}, 20, 2, 0, 0.9F);
  map.Mark({50, 70}, 40, 20, 0, std::numeric_limits<float>::quiet_NaN());
  EXPECT_TRUE(map.Boxes().empty());
}

TEST(TextBoxes, ComeInReadingOrder) {
  MarkedMap map{200, 300};
  map.Mark({220, 50}, 60, 16, 0, 0.9F);
  map.Mark({60, 54}, 60, 16, 0, 0.9F);
  map.Mark({150, 140}, 60, 16, 0, 0.9F);
  std::vector<float> middles;
  for (const TextBox& box : map.Boxes()) {
    middles.push_back((box.corners[0].x + box.corners[2].x) / 2);
  }
  EXPECT_EQ(middles, (std::vector<float>{60, 220, 150}));
}

TEST(TextBoxes, TakeAMapThatIsAllTextOrOnePixel) {
  MarkedMap all{40, 60};
  all.values.assign(all.values.size(), 1.0F);
  BoxRules rules;
  rules.unclip = 0;
  ASSERT_EQ(all.Boxes(rules).size(), 1u);
  EXPECT_FLOAT_EQ(all.Boxes(rules)[0].corners[2].x, 60);
  EXPECT_FLOAT_EQ(all.Boxes(rules)[0].corners[2].y, 40);
  MarkedMap one{1, 1, {1.0F}};
  EXPECT_TRUE(one.Boxes().empty());
  rules.smallest = 0;
  EXPECT_EQ(one.Boxes(rules).size(), 1u);
}

TEST(TextBoxes, TakeInfiniteProbabilities) {
  MarkedMap map{60, 60};
  map.Mark({30, 30}, 40, 20, 0, std::numeric_limits<float>::infinity());
  for (const TextBox& box : map.Boxes()) {
    for (const Point& corner : box.corners) {
      EXPECT_TRUE(std::isfinite(corner.x) && std::isfinite(corner.y));
    }
  }
  map.Mark({30, 30}, 40, 20, 0, -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(map.Boxes().empty());
}

}  // namespace
}  // namespace nereid::ocr

// SPDX-License-Identifier: Apache-2.0
#include "text_boxes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace nereid::ocr {
namespace {

// The connected marked pixels, reduced to the points that their hull needs.
struct Region {
  struct Row {
    size_t y = 0;
    size_t first = 0;
    size_t last = 0;
  };
  std::vector<Row> rows;
  double sum = 0;
  size_t pixels = 0;
};

// Finds the regions of a map one after the other. Pixels that touch at a corner are connected.
class RegionSearch {
 public:
  RegionSearch(const float* probabilities, size_t rows, size_t columns, float mark)
      : probabilities_(probabilities),
        rows_(rows),
        columns_(columns),
        mark_(mark),
        visited_(rows * columns),
        slot_(rows, kNoSlot) {}

  // Finds the next region and replaces `region`. Returns false if there is none.
  bool Next(Region* region) {
    for (; next_ < visited_.size(); ++next_) {
      if (IsNew(next_)) {
        Fill(next_, region);
        return true;
      }
    }
    return false;
  }

 private:
  static constexpr size_t kNoSlot = SIZE_MAX;

  // The form of the comparison makes a NaN no text.
  bool IsNew(size_t at) const { return probabilities_[at] > mark_ && visited_[at] == 0; }

  void Fill(size_t start, Region* region) {
    *region = Region();
    visited_[start] = 1;
    stack_.assign(1, start);
    while (!stack_.empty()) {
      const size_t at = stack_.back();
      stack_.pop_back();
      const size_t y = at / columns_;
      const size_t x = at % columns_;
      Add(y, x, probabilities_[at], region);
      const size_t bottom = std::min(y + 1, rows_ - 1);
      const size_t right = std::min(x + 1, columns_ - 1);
      for (size_t i = y == 0 ? 0 : y - 1; i <= bottom; ++i) {
        for (size_t k = x == 0 ? 0 : x - 1; k <= right; ++k) {
          const size_t near = i * columns_ + k;
          if (IsNew(near)) {
            visited_[near] = 1;
            stack_.push_back(near);
          }
        }
      }
    }
    for (const Region::Row& row : region->rows) {
      slot_[row.y] = kNoSlot;
    }
  }

  void Add(size_t y, size_t x, float probability, Region* region) {
    if (slot_[y] == kNoSlot) {
      slot_[y] = region->rows.size();
      region->rows.push_back({y, x, x});
    }
    Region::Row& row = region->rows[slot_[y]];
    row.first = std::min(row.first, x);
    row.last = std::max(row.last, x);
    region->sum += static_cast<double>(probability);
    ++region->pixels;
  }

  const float* probabilities_;
  size_t rows_;
  size_t columns_;
  float mark_;
  std::vector<uint8_t> visited_;
  std::vector<size_t> slot_;  // for each row of the map, its place in the region under way
  std::vector<size_t> stack_;
  size_t next_ = 0;
};

float Cross(Point origin, Point a, Point b) {
  return (a.x - origin.x) * (b.y - origin.y) - (a.y - origin.y) * (b.x - origin.x);
}

// Returns the convex hull of the region's pixels, as squares, by Andrew's monotone chain.
std::vector<Point> Hull(const Region& region) {
  std::vector<Point> points;
  for (const Region::Row& row : region.rows) {
    const auto y = static_cast<float>(row.y);
    const auto left = static_cast<float>(row.first);
    const auto right = static_cast<float>(row.last + 1);
    points.insert(points.end(), {{left, y}, {right, y}, {left, y + 1}, {right, y + 1}});
  }
  std::sort(points.begin(), points.end(),
            [](Point a, Point b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  std::vector<Point> hull;
  for (int side = 0; side < 2; ++side) {
    const size_t base = hull.size();
    for (const Point& point : points) {
      while (hull.size() >= base + 2 && Cross(hull[hull.size() - 2], hull.back(), point) <= 0) {
        hull.pop_back();
      }
      hull.push_back(point);
    }
    hull.pop_back();
    std::reverse(points.begin(), points.end());
  }
  return hull;
}

// A rectangle by the directions of its sides: `along` is a unit vector that points to the right.
struct Rectangle {
  Point along;
  float left = 0;
  float right = 0;
  float top = 0;
  float bottom = 0;

  float width() const { return right - left; }
  float height() const { return bottom - top; }
  Point At(float u, float v) const {
    return {along.x * u - along.y * v, along.y * u + along.x * v};
  }
};

Rectangle Around(const std::vector<Point>& hull, Point along) {
  constexpr float kFar = std::numeric_limits<float>::max();
  Rectangle box{along, kFar, -kFar, kFar, -kFar};
  for (const Point& point : hull) {
    const float u = point.x * along.x + point.y * along.y;
    const float v = point.y * along.x - point.x * along.y;
    box.left = std::min(box.left, u);
    box.right = std::max(box.right, u);
    box.top = std::min(box.top, v);
    box.bottom = std::max(box.bottom, v);
  }
  return box;
}

// The sine of the largest slant that is ignored: the edges of the marks are rough, and a small
// rotation of the rectangle would only blur the line.
constexpr float kUpright = 0.025F;

// Returns the smallest rectangle around the hull; one of its sides contains a side of the hull.
Rectangle SmallestRectangle(const std::vector<Point>& hull) {
  Rectangle best = Around(hull, {1, 0});
  for (size_t i = 0; i < hull.size(); ++i) {
    const Point& next = hull[(i + 1) % hull.size()];
    const float x = next.x - hull[i].x;
    const float y = next.y - hull[i].y;
    const float length = std::hypot(x, y);
    Point along{x / length, y / length};
    if (std::abs(along.x) < std::abs(along.y)) {
      along = {along.y, -along.x};
    }
    if (along.x < 0) {
      along = {-along.x, -along.y};
    }
    const Rectangle box = Around(hull, along);
    if (box.width() * box.height() < best.width() * best.height()) {
      best = box;
    }
  }
  return std::abs(best.along.y) < kUpright ? Around(hull, {1, 0}) : best;
}

std::optional<TextBox> BoxOf(const Region& region, const BoxRules& rules) {
  const auto score = static_cast<float>(region.sum / static_cast<double>(region.pixels));
  if (!(score >= rules.sure)) {
    return std::nullopt;
  }
  Rectangle box = SmallestRectangle(Hull(region));
  if (std::min(box.width(), box.height()) < rules.smallest) {
    return std::nullopt;
  }
  const float grow = box.width() * box.height() * rules.unclip / (2 * (box.width() + box.height()));
  box.left -= grow;
  box.right += grow;
  box.top -= grow;
  box.bottom += grow;
  return TextBox{{box.At(box.left, box.top), box.At(box.right, box.top),
                  box.At(box.right, box.bottom), box.At(box.left, box.bottom)},
                 score};
}

Point Center(const TextBox& box) {
  return {(box.corners[0].x + box.corners[2].x) / 2, (box.corners[0].y + box.corners[2].y) / 2};
}

float Height(const TextBox& box) {
  return std::hypot(box.corners[3].x - box.corners[0].x, box.corners[3].y - box.corners[0].y);
}

// Sorts in reading order. Boxes are side by side if their centers are less than half a line apart.
void SortForReading(std::vector<TextBox>* boxes) {
  std::sort(boxes->begin(), boxes->end(),
            [](const TextBox& a, const TextBox& b) { return Center(a).y < Center(b).y; });
  for (auto row = boxes->begin(); row != boxes->end();) {
    auto end = row + 1;
    while (end != boxes->end() && Center(*end).y - Center(*row).y < Height(*row) / 2) {
      ++end;
    }
    std::sort(row, end,
              [](const TextBox& a, const TextBox& b) { return Center(a).x < Center(b).x; });
    row = end;
  }
}

}  // namespace

std::vector<TextBox> FindTextBoxes(const float* probabilities, size_t rows, size_t columns,
                                   const BoxRules& rules) {
  std::vector<TextBox> boxes;
  RegionSearch search(probabilities, rows, columns, rules.mark);
  for (Region region; search.Next(&region);) {
    if (const std::optional<TextBox> box = BoxOf(region, rules)) {
      boxes.push_back(*box);
    }
  }
  SortForReading(&boxes);
  return boxes;
}

}  // namespace nereid::ocr

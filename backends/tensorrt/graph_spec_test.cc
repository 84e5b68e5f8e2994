// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/graph_spec.h"

#include <gtest/gtest.h>

namespace nereid::tensorrt {
namespace {

using Numbers = std::vector<int64_t>;

EngineTensor Tensor(const std::string& name, Numbers dims, bool shape_tensor = false) {
  EngineTensor tensor;
  tensor.signature.name = name;
  tensor.signature.has_rank = true;
  tensor.signature.dims = std::move(dims);
  tensor.shape_tensor = shape_tensor;
  return tensor;
}

struct Case {
  std::vector<EngineTensor> inputs = {Tensor("x", {-1, 4})};
  Profile profile = {0, {{{1, 4}, {4, 4}, {8, 4}}}};
  std::vector<GraphSpec> specs;
  std::vector<GraphRange> ranges;

  std::string Make(int64_t max_batch_size) {
    ranges.clear();
    return MakeGraphRanges(specs, inputs, max_batch_size, profile, &ranges).message();
  }
  std::vector<Numbers> Firsts() const {
    std::vector<Numbers> firsts;
    for (const GraphRange& range : ranges) {
      firsts.push_back(range.upper[0]);
    }
    return firsts;
  }
};

TEST(GraphSpecs, TheDefaultIsThePowersOfTwoAndTheMaximum) {
  Case test;
  EXPECT_EQ(test.Make(6), "");
  EXPECT_EQ(test.Firsts(), (std::vector<Numbers>{{1, 4}, {2, 4}, {4, 4}, {6, 4}}));
  EXPECT_EQ(test.Make(32), "");  // the profile ends at 8
  EXPECT_EQ(test.Firsts(), (std::vector<Numbers>{{1, 4}, {2, 4}, {4, 4}, {8, 4}}));
  test.inputs = {Tensor("x", {3, 4})};
  test.profile = {0, {{{3, 4}, {3, 4}, {3, 4}}}};
  EXPECT_EQ(test.Make(0), "");
  EXPECT_EQ(test.Firsts(), (std::vector<Numbers>{{3, 4}}));
}

TEST(GraphSpecs, TheDefaultForVariableDimensionsIsTheOptimum) {
  Case test;
  test.inputs = {Tensor("x", {-1, -1}), Tensor("s", {3}, true)};
  test.profile = {0, {{{1, 1}, {4, 5}, {8, 9}}, {{1, 1, 1}, {1, 6, 7}, {9, 9, 9}}}};
  EXPECT_EQ(test.Make(2), "");
  EXPECT_EQ(test.Firsts(), (std::vector<Numbers>{{1, 5}, {2, 5}}));
  EXPECT_EQ(test.ranges[1].upper[1], (Numbers{2, 6, 7}));
}

TEST(GraphSpecs, ASpecificationIsComplete) {
  Case test;
  test.inputs = {Tensor("x", {-1, -1})};
  test.specs = {{{2, {}}, std::nullopt}};
  EXPECT_EQ(test.Make(8),
            "optimization.cuda.graph_spec has no complete shape of the input 'x', which is [-1,-1] "
            "in the engine");
  test.specs = {{{2, {{"x", {4}}}}, std::nullopt}};
  EXPECT_EQ(test.Make(8), "");
  EXPECT_EQ(test.Firsts(), (std::vector<Numbers>{{2, 4}}));
  test.specs = {{{2, {{"z", {4}}}}, std::nullopt}};
  EXPECT_EQ(test.Make(8),
            "optimization.cuda.graph_spec names the input 'z', which the engine lacks");
}

TEST(GraphSpecs, ShapeTensorsAreGivenByTheirValues) {
  Case test;
  test.inputs.push_back(Tensor("s", {3}, true));
  test.profile.inputs.push_back({{1, 1, 1}, {1, 1, 1}, {9, 9, 9}});
  test.specs = {{{2, {}}, std::nullopt}};
  EXPECT_EQ(test.Make(8), "optimization.cuda.graph_spec lacks the values of the shape tensor 's'");
  test.specs = {{{2, {{"s", {5, 6}}}}, std::nullopt}};
  EXPECT_EQ(test.Make(8), "");
  EXPECT_EQ(test.ranges[0].upper[1], (Numbers{2, 5, 6}));
}

TEST(GraphSpecs, ALowerBoundDiffersInTheFirstDimension) {
  Case test;
  test.inputs = {Tensor("x", {-1, -1})};
  test.specs = {{{8, {{"x", {4}}}}, GraphShapes{3, {{"x", {2}}}}}};
  EXPECT_EQ(test.Make(8),
            "optimization.cuda.graph_spec has the graph_lower_bound [3,2] for the input 'x'; it "
            "may only be smaller than [8,4] in the first dimension");
  test.specs[0].lower->inputs["x"] = {4};
  EXPECT_EQ(test.Make(8), "");
  EXPECT_EQ(test.ranges[0].lower[0], (Numbers{3, 4}));
}

TEST(GraphSpecs, TheSmallestGraphThatFits) {
  const std::vector<GraphRange> ranges = {
      {{{1, 4}}, {{8, 4}}}, {{{1, 4}}, {{4, 4}}}, {{{2, 4}}, {{2, 4}}}};
  const auto choose = [&](Numbers shape) {
    const std::vector<Numbers> inputs = {std::move(shape)};
    return ChooseGraph(ranges, inputs);
  };
  EXPECT_EQ(choose({2, 4}), 2);
  EXPECT_EQ(choose({3, 4}), 1);
  EXPECT_EQ(choose({8, 4}), 0);
  EXPECT_EQ(choose({9, 4}), -1);
  EXPECT_EQ(choose({3, 3}), -1);
  EXPECT_EQ(choose({3}), -1);
}

}  // namespace
}  // namespace nereid::tensorrt

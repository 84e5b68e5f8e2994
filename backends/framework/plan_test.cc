// SPDX-License-Identifier: Apache-2.0
#include "framework/plan.h"

#include <gtest/gtest.h>

namespace nereid::framework {
namespace {

constexpr TRITONSERVER_DataType kFloat = TRITONSERVER_TYPE_FP32;

TensorSignature Declared(const std::string& name, std::vector<int64_t> dims,
                         TRITONSERVER_DataType type = kFloat) {
  TensorSignature tensor;
  tensor.name = name;
  tensor.data_type = type;
  tensor.has_rank = true;
  tensor.dims = std::move(dims);
  return tensor;
}

backend::TensorConfig Given(const std::string& name, std::vector<int64_t> dims,
                            TRITONSERVER_DataType type = kFloat) {
  backend::TensorConfig tensor;
  tensor.name = name;
  tensor.data_type = type;
  tensor.dims = std::move(dims);
  return tensor;
}

class PlanTest : public ::testing::Test {
 protected:
  PlanTest() {
    config_.name = "m";
    config_.max_batch_size = 8;
    config_.inputs = {Given("x", {4})};
    config_.outputs = {Given("y", {2})};
    signature_.inputs = {Declared("x", {-1, 4})};
    signature_.outputs = {Declared("y", {-1, 2}), Declared("z", {-1, 3})};
  }

  std::string Make() {
    plan_ = RunPlan();
    return MakePlan(config_, signature_, traits_, &plan_).message();
  }

  backend::ModelConfig config_;
  ModelSignature signature_;
  FrameworkTraits traits_{"Frame", "Frame model"};
  RunPlan plan_;
};

TEST_F(PlanTest, Plain) {
  ASSERT_EQ(Make(), "");
  EXPECT_TRUE(plan_.batching);
  ASSERT_EQ(plan_.inputs.size(), 1u);
  EXPECT_EQ(plan_.inputs[0].name, "x");
  ASSERT_EQ(plan_.outputs.size(), 1u);
  EXPECT_EQ(plan_.FindListed("y"), 0);
  EXPECT_EQ(plan_.FindListed("z"), -1);  // the model has it, the configuration does not
}

TEST_F(PlanTest, Names) {
  config_.inputs[0].name = "X";
  EXPECT_EQ(Make(), "unexpected inference input 'X', allowed inputs are: x");
  EXPECT_EQ(CheckInputNames(config_, signature_).message(), Make());
  config_.inputs[0].name = "x";
  config_.outputs[0].name = "Y";
  EXPECT_EQ(Make(), "unexpected inference output 'Y', allowed outputs are: y, z");
}

TEST_F(PlanTest, Types) {
  config_.inputs[0].data_type = TRITONSERVER_TYPE_BYTES;
  EXPECT_EQ(Make(),
            "unable to load model 'm', configuration expects datatype TYPE_STRING for input 'x', "
            "model provides TYPE_FP32");
  signature_.inputs[0].data_type = TRITONSERVER_TYPE_INVALID;
  EXPECT_EQ(Make(), "");  // the model does not say
  signature_.inputs[0].foreign_type = "complex";
  EXPECT_EQ(
      Make(),
      "model 'm': input 'x' is complex [-1,4] in the Frame model, which the inference protocol "
      "cannot carry");
}

TEST_F(PlanTest, Shapes) {
  config_.inputs[0].dims = {5};
  EXPECT_EQ(Make(),
            "model 'm', tensor 'x': the model expects 2 dimensions (shape [-1,4]) but the model "
            "configuration specifies 2 dimensions (an initial batch dimension because "
            "max_batch_size > 0 followed by the explicit tensor shape, making complete shape "
            "[-1,5])");
  config_.inputs[0].dims = {-1};
  EXPECT_EQ(Make(), "");
  config_.inputs[0].dims = {2, 2};
  config_.inputs[0].reshape = std::vector<int64_t>{4};
  EXPECT_EQ(Make(), "");
  config_.inputs[0].reshape = std::vector<int64_t>{2, 2};
  EXPECT_NE(Make(), "");
  signature_.inputs[0].shape_binds = false;
  EXPECT_EQ(Make(), "");
  signature_.inputs[0].has_rank = false;
  EXPECT_EQ(Make(), "");
}

TEST_F(PlanTest, ShapesWithoutABatch) {
  config_.max_batch_size = 0;
  config_.outputs = {Given("y", {-1, 2})};
  EXPECT_EQ(Make(),
            "model 'm', tensor 'x': the model expects 2 dimensions (shape [-1,4]) but the model "
            "configuration specifies 1 dimensions (shape [4])");
  config_.inputs = {Given("x", {2, 4})};
  EXPECT_EQ(Make(), "");
  // The tensor of a request is flattened, as the tensors of a batch are.
  config_.inputs[0].allow_ragged_batch = true;
  EXPECT_EQ(Make(),
            "unable to load model 'm', configuration expects model provides input with shape [-1]  "
            "for ragged input 'x', model provides [-1,4]");
  signature_.inputs[0].dims = {-1};
  EXPECT_EQ(Make(), "");
  EXPECT_TRUE(plan_.inputs[0].ragged);
}

TEST_F(PlanTest, FixedBatch) {
  signature_.inputs[0].dims = {1, 4};
  EXPECT_EQ(Make(),
            "model 'm', tensor 'x': for the model to support batching the shape should have at "
            "least 1 dimension and the first dimension must be -1; but shape expected by the model "
            "is [1,4]");
}

TEST_F(PlanTest, ScalarsWithoutABatch) {
  config_.max_batch_size = 0;
  config_.inputs = {Given("x", {1})};
  config_.outputs = {Given("y", {-1, 2})};
  signature_.inputs = {Declared("x", {})};
  ASSERT_EQ(Make(), "");
  EXPECT_TRUE(plan_.inputs[0].scalar);
  config_.inputs = {Given("x", {2})};
  EXPECT_NE(Make(), "");
}

TEST_F(PlanTest, EveryInputIsFed) {
  signature_.inputs.push_back(Declared("w", {-1, 1}));
  EXPECT_EQ(Make(), "unable to load model 'm', configuration expects 1 inputs, model provides 2");
  config_.inputs = {Given("x", {4}), Given("x", {4})};
  EXPECT_EQ(Make(),
            "model 'm': the configuration lacks the input 'w' (FP32 [-1,1]) of the Frame model");
  config_.inputs.push_back(Given("w", {1}));
  EXPECT_EQ(Make(), "unable to load model 'm', configuration expects 3 inputs, model provides 2");
  config_.inputs = {Given("x", {4})};
  signature_.inputs[1].has_default = true;
  EXPECT_EQ(Make(), "");
}

TEST_F(PlanTest, ControlsAndStates) {
  signature_.inputs.push_back(Declared("start", {-1, 1}, TRITONSERVER_TYPE_INT32));
  signature_.inputs.push_back(Declared("before", {-1, 3}));
  config_.controls = {{"start", TRITONSERVER_TYPE_INT32}};
  backend::StateConfig state;
  state.input_name = "before";
  state.output = Given("z", {3});
  config_.states = {state};
  ASSERT_EQ(Make(), "");
  EXPECT_EQ(plan_.inputs.size(), 3u);
  ASSERT_EQ(plan_.outputs.size(), 2u);
  EXPECT_TRUE(plan_.outputs[1].state);
  EXPECT_FALSE(plan_.outputs[1].listed);
  EXPECT_EQ(plan_.FindListed("z"), -1);
  config_.outputs.push_back(Given("z", {3}));  // clients may have the state
  ASSERT_EQ(Make(), "");
  EXPECT_EQ(plan_.outputs.size(), 2u);
  EXPECT_TRUE(plan_.outputs[1].state && plan_.outputs[1].listed);
  config_.controls[0].data_type = TRITONSERVER_TYPE_BOOL;
  EXPECT_NE(Make().find("TYPE_BOOL for control input 'start', model provides TYPE_INT32"),
            std::string::npos);
  config_.controls[0].name = "begin";
  EXPECT_NE(Make().find("sequence_batching names the control input 'begin'"), std::string::npos);
}

TEST_F(PlanTest, FeaturesThatAreMissingAreNamed) {
  config_.decoupled = true;
  EXPECT_EQ(Make(),
            "model 'm': model_transaction_policy.decoupled is not supported by the Frame backend");
  config_.decoupled = false;
  traits_.ragged_batches = false;
  config_.inputs[0].allow_ragged_batch = true;
  EXPECT_EQ(Make(),
            "model 'm': allow_ragged_batch (input 'x') is not supported by the Frame backend");
  config_.inputs[0].allow_ragged_batch = false;
  config_.batch_outputs.emplace_back();
  EXPECT_EQ(Make(), "model 'm': batch_output is not supported by the Frame backend");
  config_.batch_inputs.emplace_back();
  EXPECT_EQ(Make(), "model 'm': batch_input is not supported by the Frame backend");
}

TEST_F(PlanTest, RaggedInputsMustBeFlat) {
  config_.inputs[0].allow_ragged_batch = true;
  EXPECT_EQ(Make(),
            "unable to load model 'm', configuration expects model provides input with shape [-1]  "
            "for ragged input 'x', model provides [-1,4]");
  signature_.inputs[0].dims = {-1};
  ASSERT_EQ(Make(), "");
  EXPECT_TRUE(plan_.inputs[0].ragged);
  config_.inputs[0].optional = true;
  EXPECT_EQ(Make(), "model 'm': input 'x' cannot be both optional and allow_ragged_batch");
  config_.inputs[0].optional = false;
  signature_.inputs[0].has_rank = false;  // the model does not declare it
  EXPECT_EQ(Make(), "");
}

class BatchInputPlanTest : public PlanTest {
 protected:
  BatchInputPlanTest() {
    signature_.inputs.push_back(Declared("n", {-1}));
    backend::BatchInputConfig count;
    count.kind = backend::BatchInputKind::kElementCount;
    count.source = "x";
    count.data_type = kFloat;
    count.targets = {"n"};
    config_.batch_inputs = {count};
  }
};

TEST_F(BatchInputPlanTest, ABatchInputIsAnInputOfItsOwn) {
  ASSERT_EQ(Make(), "");
  ASSERT_EQ(plan_.inputs.size(), 2u);
  ASSERT_TRUE(plan_.inputs[1].derived);
  EXPECT_EQ(plan_.inputs[1].derived->source, 0u);
  EXPECT_EQ(plan_.inputs[1].derived->room, -1);
  EXPECT_EQ(plan_.inputs[1].place, 1u);
  signature_.inputs[1].dims = {5};
  ASSERT_EQ(Make(), "");
  EXPECT_EQ(plan_.inputs[1].derived->room, 5);
  signature_.inputs[1].has_rank = false;
  ASSERT_EQ(Make(), "");
  EXPECT_EQ(plan_.inputs[1].derived->room, -1);
}

TEST_F(BatchInputPlanTest, ABatchInputMustFitTheModel) {
  backend::BatchInputConfig* given = config_.batch_inputs.data();
  const backend::BatchInputConfig right = *given;
  const auto make = [&](const auto& spoil) {
    *given = right;
    spoil();
    return Make();
  };
  EXPECT_EQ(make([&] { given->targets = {"z"}; }),
            "model 'm': batch_input names the target 'z', which the Frame model lacks; its inputs "
            "are: x (FP32 [-1,4]), n (FP32 [-1])");
  EXPECT_EQ(make([&] { given->targets = {"x"}; }),
            "model 'm': batch_input names the target 'x', which clients are to send as well; its "
            "inputs are: x (FP32 [-1,4]), n (FP32 [-1])");
  EXPECT_EQ(make([&] { given->targets.clear(); }),
            "model 'm': batch_input of 'x' lacks a known kind or a target_name");
  EXPECT_EQ(make([&] { given->source = "n"; }),
            "model 'm': batch_input names the source input 'n', which the configuration does not "
            "list");
  EXPECT_EQ(make([&] { given->data_type = TRITONSERVER_TYPE_INT32; }),
            "unable to load model 'm', configuration expects datatype TYPE_INT32 for batch_input "
            "'n', model provides TYPE_FP32");
  EXPECT_EQ(make([&] { given->kind = backend::BatchInputKind::kItemShape; }),
            "model 'm': batch_input 'n' has rank 2, but the Frame model declares [-1]");
  config_.batch_inputs.clear();
  EXPECT_EQ(Make(), "unable to load model 'm', configuration expects 1 inputs, model provides 2");
}

TEST_F(BatchInputPlanTest, ABatchOutputKnowsItsSource) {
  config_.batch_outputs.push_back({{"y"}, "x"});
  config_.outputs = {Given("y", {-1})};  // its shape is not that of the model
  ASSERT_EQ(Make(), "");
  ASSERT_TRUE(plan_.outputs[0].scatter);
  EXPECT_EQ(plan_.outputs[0].scatter->dims, (std::vector<int64_t>{-1, -1}));
  config_.batch_outputs[0].source = "n";
  EXPECT_EQ(Make(),
            "model 'm': batch_output names the source input 'n', which the configuration does not "
            "list");
}

TEST_F(PlanTest, DimsThatAreKnownBeforeTheRun) {
  signature_.inputs[0].dims = {-1, -1};
  signature_.inputs[0].symbols = {"batch", "width"};
  signature_.outputs[0] = Declared("y", {-1, -1, 7});
  signature_.outputs[0].symbols = {"batch", "width", ""};
  config_.inputs = {Given("x", {-1})};
  config_.outputs = {Given("y", {-1, 7})};
  ASSERT_EQ(Make(), "");
  EXPECT_TRUE(plan_.outputs[0].dims.empty());  // the framework cannot write in place
  traits_.writes_in_place = true;
  ASSERT_EQ(Make(), "");
  const std::vector<PlannedDim>& dims = plan_.outputs[0].dims;
  ASSERT_EQ(dims.size(), 3u);
  EXPECT_EQ(dims[0].kind, PlannedDim::Kind::kBatch);
  EXPECT_EQ(dims[1].kind, PlannedDim::Kind::kInputDim);
  EXPECT_EQ(dims[1].dim, 1u);
  EXPECT_EQ(dims[2].kind, PlannedDim::Kind::kFixed);
  EXPECT_EQ(dims[2].size, 7);
  signature_.outputs[0].symbols[1] = "other";
  ASSERT_EQ(Make(), "");
  EXPECT_TRUE(plan_.outputs[0].dims.empty());
}

TEST_F(PlanTest, ATensorThatMayBeAScalar) {
  signature_.outputs[0] = Declared("y", {});
  signature_.outputs[0].scalar_or_open = true;
  config_.outputs = {Given("y", {1})};
  EXPECT_EQ(Make(), "");
  config_.outputs = {Given("y", {2})};
  EXPECT_EQ(Make(),
            "unable to load model 'm', scalar tensor 'y', should only provide 1 in the model "
            "configuration when the model doesn't support batching. Model configuration provided: "
            "[2].");
}

TEST_F(PlanTest, AStateIsNamedOnce) {
  signature_.inputs.push_back(Declared("before", {-1, 3}));
  backend::StateConfig state;
  state.input_name = "before";
  state.output = Given("z", {3});
  config_.states = {state};
  config_.batch_outputs.push_back({{"z"}, "x"});
  EXPECT_EQ(Make(), "model 'm': the output 'z' cannot be a state and a batch_output");
  config_.states[0].input_name = "x";
  signature_.inputs[1].has_default = true;
  EXPECT_NE(Make(), "");
}

}  // namespace
}  // namespace nereid::framework

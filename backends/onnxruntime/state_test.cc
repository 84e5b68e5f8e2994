// SPDX-License-Identifier: Apache-2.0
// States that the server keeps: they come in as inputs, and go out through the state API.
#include <gmock/gmock.h>

#include "onnxruntime/onnx_fixture.h"

namespace nereid::onnxruntime {
namespace {

using backend::testing::BytesElements;
using backend::testing::BytesTensor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Shape = std::vector<int64_t>;

class StateTest : public OnnxTest {
 protected:
  static std::string State(const std::string& input, const std::string& output,
                           const std::string& type, const std::string& dims,
                           const std::string& more = "") {
    return R"("sequence_batching":{"state":[{"input_name":")" + input + R"(","output_name":")" +
           output + R"(","data_type":"TYPE_)" + type + R"(","dims":)" + dims + more + "}]}";
  }
  /// y = new_state = x + state, of four numbers.
  std::string LoadAccumulate(const std::string& outputs, const std::string& more = "") {
    return Load("accumulate", Io(8, Tensor("x", "FP32", "[4]"), outputs,
                                 State("state", "new_state", "FP32", "[4]", more)));
  }
  static void Ask(TRITONBACKEND_Request* request, float x, float state) {
    request->AddInput<float>("x", TRITONSERVER_TYPE_FP32, {1, 4}, std::vector<float>(4, x));
    request->AddInput<float>("state", TRITONSERVER_TYPE_FP32, {1, 4}, std::vector<float>(4, state));
    request->outputs = {"y"};
    request->has_states = true;
  }

  const std::string y_ = Tensor("y", "FP32", "[4]");
};

TEST_F(StateTest, ARequestAloneWritesTheStateInPlace) {
  ASSERT_EQ(LoadAccumulate(y_), "");
  TRITONBACKEND_Request request;
  Ask(&request, 2, 40);
  ASSERT_EQ(server_.Execute({&request}), "");
  ASSERT_EQ(request.Answer().message, "");
  EXPECT_THAT(request.Answer().outputs.at("y").As<float>(), ElementsAre(42, 42, 42, 42));
  EXPECT_EQ(request.Answer().outputs.size(), 1u) << "the client did not ask for the state";
  EXPECT_EQ(request.states.size(), 1u);
  EXPECT_THAT(request.State("new_state").As<float>(), ElementsAre(42, 42, 42, 42));
  EXPECT_EQ(request.State("new_state").shape, (Shape{1, 4}));
}

TEST_F(StateTest, ABatchGivesEachRequestItsOwn) {
  ASSERT_EQ(LoadAccumulate(y_), "");
  TRITONBACKEND_Request a, b, c;
  Ask(&a, 1, 10);
  Ask(&b, 2, 20);
  Ask(&c, 3, 30);
  c.outputs.clear();  // as the null request of an empty slot
  ASSERT_EQ(server_.Execute({&a, &b, &c}), "");
  EXPECT_EQ(a.State("new_state").As<float>()[3], 11);
  EXPECT_EQ(b.State("new_state").As<float>()[0], 22);
  EXPECT_EQ(c.State("new_state").As<float>()[0], 33);
  EXPECT_EQ(c.Answer().outputs.size(), 0u);
  ASSERT_EQ(server_.instance().statistics.size(), 1u);
  EXPECT_EQ(server_.instance().statistics[0].batch_size, 3u);
}

TEST_F(StateTest, ClientsGetAStateThatIsListedAndAskedFor) {
  ASSERT_EQ(LoadAccumulate(y_ + "," + Tensor("new_state", "FP32", "[4]")), "");
  for (const bool together : {false, true}) {
    TRITONBACKEND_Request wants, does_not;
    Ask(&wants, 1, 2);
    wants.outputs = {"new_state"};
    Ask(&does_not, 3, 4);
    if (together) {
      ASSERT_EQ(server_.Execute({&wants, &does_not}), "");
    } else {
      ASSERT_EQ(server_.Execute({&wants}), "");
      ASSERT_EQ(server_.Execute({&does_not}), "");
    }
    ASSERT_EQ(wants.Answer().outputs.size(), 1u);
    EXPECT_EQ(wants.Answer().outputs.at("new_state").shape, (Shape{1, 4}));
    EXPECT_EQ(wants.Answer().outputs.at("new_state").As<float>()[0], 3);
    EXPECT_EQ(does_not.Answer().outputs.count("new_state"), 0u);
    EXPECT_EQ(does_not.Answer().outputs.at("y").As<float>()[0], 7);
    EXPECT_EQ(wants.State("new_state").As<float>()[0], 3);
    EXPECT_EQ(does_not.State("new_state").As<float>()[0], 7);
  }
}

TEST_F(StateTest, OneBufferForBothIsNotWrittenBeforeItIsRead) {
  ASSERT_EQ(LoadAccumulate(y_, R"(,"use_same_buffer_for_input_output":true)"), "");
  TRITONBACKEND_Request request;
  Ask(&request, 1, 2);
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_EQ(request.State("new_state").As<float>()[0], 3);
}

TEST_F(StateTest, AStateMayGrow) {
  ASSERT_EQ(Load("remember", Io(8, Tensor("x", "FP32", "[1]"), Tensor("y", "FP32", "[-1]"),
                                State("list", "new_list", "FP32", "[-1]"))),
            "");
  TRITONBACKEND_Request request;
  request.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {1, 1}, {7});
  request.AddInput<float>("list", TRITONSERVER_TYPE_FP32, {1, 2}, {5, 6});
  request.has_states = true;
  request.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_EQ(request.State("new_list").shape, (Shape{1, 3}));
  EXPECT_THAT(request.State("new_list").As<float>(), ElementsAre(5, 6, 7));
}

TEST_F(StateTest, StatesOfDifferentShapesRunOneByOne) {
  ASSERT_EQ(Load("remember", Io(8, Tensor("x", "FP32", "[1]"), Tensor("y", "FP32", "[-1]"),
                                State("list", "new_list", "FP32", "[-1]"))),
            "");
  TRITONBACKEND_Request a, b;
  for (auto* request : {&a, &b}) {
    request->AddInput<float>("x", TRITONSERVER_TYPE_FP32, {1, 1}, {9});
    request->has_states = true;
    request->outputs = {"y"};
  }
  a.AddInput<float>("list", TRITONSERVER_TYPE_FP32, {1, 1}, {1});
  b.AddInput<float>("list", TRITONSERVER_TYPE_FP32, {1, 2}, {2, 3});
  ASSERT_EQ(server_.Execute({&a, &b}), "");
  EXPECT_THAT(a.State("new_list").As<float>(), ElementsAre(1, 9));
  EXPECT_THAT(b.State("new_list").As<float>(), ElementsAre(2, 3, 9));
}

TEST_F(StateTest, StatesOfTexts) {
  const std::string text = Tensor("y", "STRING", "[1]");
  ASSERT_EQ(Load("append_text", Io(8, Tensor("x", "STRING", "[1]"), text,
                                   State("text", "new_text", "STRING", "[1]"))),
            "");
  TRITONBACKEND_Request a, b;
  for (auto* request : {&a, &b}) {
    request->AddRaw("x", TRITONSERVER_TYPE_BYTES, {1, 1}, BytesTensor({"!"}));
    request->has_states = true;
    request->outputs = {"y"};
  }
  a.AddRaw("text", TRITONSERVER_TYPE_BYTES, {1, 1}, BytesTensor({""}));
  b.AddRaw("text", TRITONSERVER_TYPE_BYTES, {1, 1}, BytesTensor({"so long"}));
  ASSERT_EQ(server_.Execute({&a, &b}), "");
  EXPECT_THAT(BytesElements(a.State("new_text").data), ElementsAre("!"));
  EXPECT_THAT(BytesElements(b.State("new_text").data), ElementsAre("so long!"));
}

TEST_F(StateTest, TheSpecsAccumulatorWithControls) {
  const std::string control =
      R"("sequence_batching":{"control_input":[{"name":"START","control":[)"
      R"({"kind":"CONTROL_SEQUENCE_START","int32_false_true":[0,1]}]}],)"
      R"("state":[{"input_name":"INPUT_STATE","output_name":"OUTPUT_STATE",)"
      R"("data_type":"TYPE_INT32","dims":["-1"]}]})";
  ASSERT_EQ(Load("start_or_add",
                 Io(4, Tensor("INPUT", "INT32", "[1]"), Tensor("OUTPUT", "INT32", "[1]"), control)),
            "");
  TRITONBACKEND_Request first, later;
  for (auto* request : {&first, &later}) {
    request->AddInput<int32_t>("INPUT", TRITONSERVER_TYPE_INT32, {1, 1}, {5});
    request->AddInput<int32_t>("INPUT_STATE", TRITONSERVER_TYPE_INT32, {1, 1}, {100});
    request->AddInput<int32_t>("START", TRITONSERVER_TYPE_INT32, {1, 1},
                               {request == &first ? 1 : 0});
    request->has_states = true;
    request->outputs = {"OUTPUT"};
  }
  ASSERT_EQ(server_.Execute({&first, &later}), "");
  EXPECT_THAT(first.State("OUTPUT_STATE").As<int32_t>(), ElementsAre(5));
  EXPECT_THAT(later.State("OUTPUT_STATE").As<int32_t>(), ElementsAre(105));
}

TEST_F(StateTest, AServerWithoutStatesIsAnError) {
  ASSERT_EQ(LoadAccumulate(y_), "");
  TRITONBACKEND_Request request;
  Ask(&request, 1, 2);
  request.has_states = false;
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_THAT(request.Answer().message, HasSubstr("unable to add state 'new_state'"));
}

TEST_F(StateTest, ChecksTheConfigurationAgainstTheModel) {
  const auto load = [&](const std::string& sequence) {
    return Load("accumulate", Io(8, Tensor("x", "FP32", "[4]"), y_, sequence));
  };
  EXPECT_THAT(load(State("stat", "new_state", "FP32", "[4]")),
              HasSubstr("unexpected inference state input 'stat', allowed state inputs are: "));
  EXPECT_THAT(load(State("state", "next", "FP32", "[4]")),
              HasSubstr("unexpected inference state output 'next', allowed state outputs are: "));
  EXPECT_THAT(
      load(State("state", "new_state", "INT32", "[4]")),
      HasSubstr("expects datatype TYPE_INT32 for state input 'state', model provides TYPE_FP32"));
  EXPECT_THAT(load(State("state", "new_state", "FP32", "[5]")),
              HasSubstr("making complete shape [-1,5])"));
  EXPECT_THAT(load(State("x", "new_state", "FP32", "[4]")),
              HasSubstr("names the input 'x', which the configuration has already"));
  EXPECT_THAT(load(""), HasSubstr("configuration expects 1 inputs, model provides 2"));
}

TEST_F(StateTest, ChecksTheTypeAndShapeOfControls) {
  const auto load = [&](const std::string& values) {
    return Load("start_or_add",
                Io(4, Tensor("INPUT", "INT32", "[1]"), Tensor("OUTPUT", "INT32", "[1]"),
                   R"("sequence_batching":{"control_input":[{"name":"START","control":[)"
                   R"({"kind":"CONTROL_SEQUENCE_START",)" +
                       values +
                       R"(}]}],"state":[{"input_name":"INPUT_STATE","output_name":"OUTPUT_STATE",)"
                       R"("data_type":"TYPE_INT32","dims":["1"]}]})"));
  };
  EXPECT_EQ(load(R"("int32_false_true":[0,1])"), "");
  EXPECT_THAT(load(R"("fp32_false_true":[0,1])"),
              HasSubstr("expects datatype TYPE_FP32 for control input 'START', model provides"));
}

}  // namespace
}  // namespace nereid::onnxruntime

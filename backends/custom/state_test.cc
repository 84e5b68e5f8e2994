// SPDX-License-Identifier: Apache-2.0
// Controls and states: what the server adds for a sequence.
#include "custom/fixture.h"

namespace nereid::custom::testing {
namespace {

constexpr char kControls[] =
    R"("control_input":[{"name":"START","control":[{"kind":"CONTROL_SEQUENCE_START",)"
    R"("int32_false_true":[0,1]}]},{"name":"READY","control":[{"kind":"CONTROL_SEQUENCE_READY",)"
    R"("int32_false_true":[0,1]}]}])";
constexpr char kState[] =
    R"("state":[{"input_name":"STATE_IN","output_name":"STATE_OUT","data_type":"TYPE_INT32",)"
    R"("dims":["1"]}])";

class SequenceTest : public CustomTest {
 protected:
  std::string LoadSequence(const std::string& state, const std::string& more_outputs = "") {
    return Load("sequence", Tensor("INPUT", "TYPE_INT32", "1"),
                Tensor("OUTPUT", "TYPE_INT32", "1") + more_outputs,
                R"(,"sequence_batching":{)" + std::string(kControls) +
                    (state.empty() ? "" : "," + state) + "}");
  }
  static void Fill(TRITONBACKEND_Request* request, int32_t value, int32_t start) {
    request->AddInput<int32_t>("INPUT", TRITONSERVER_TYPE_INT32, {1, 1}, {value});
    request->AddInput<int32_t>("START", TRITONSERVER_TYPE_INT32, {1, 1}, {start});
    request->AddInput<int32_t>("READY", TRITONSERVER_TYPE_INT32, {1, 1}, {1});
    request->outputs = {"OUTPUT"};
  }
};

TEST_F(SequenceTest, ControlsAreInputs) {
  ASSERT_EQ(LoadSequence(""), "");
  TRITONBACKEND_Request first, second, absent;
  Fill(&first, 5, 1);
  Fill(&second, 6, 0);
  absent.AddInput<int32_t>("INPUT", TRITONSERVER_TYPE_INT32, {1, 1}, {100});
  absent.AddInput<int32_t>("READY", TRITONSERVER_TYPE_INT32, {1, 1}, {0});
  ASSERT_EQ(server_.Execute({&first}), "");
  ASSERT_EQ(server_.Execute({&absent}), "");
  ASSERT_EQ(server_.Execute({&second}), "");
  EXPECT_EQ(second.Answer().outputs.at("OUTPUT").As<int32_t>(), std::vector<int32_t>{11});
  EXPECT_TRUE(absent.Answer().outputs.empty());
}

TEST_F(SequenceTest, StatesAreOutputsThatTheLibraryHasToWrite) {
  ASSERT_EQ(LoadSequence(kState), "");
  TRITONBACKEND_Request request;
  Fill(&request, 5, 0);
  request.AddInput<int32_t>("STATE_IN", TRITONSERVER_TYPE_INT32, {1, 1}, {30});
  request.has_states = true;
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_EQ(request.Answer().outputs.size(), 1u);
  EXPECT_EQ(request.Answer().outputs.at("OUTPUT").As<int32_t>(), std::vector<int32_t>{35});
  EXPECT_EQ(request.State("STATE_OUT").As<int32_t>(), std::vector<int32_t>{35});
}

TEST_F(SequenceTest, AStateThatIsShownGoesBothWays) {
  ASSERT_EQ(LoadSequence(kState, "," + Tensor("STATE_OUT", "TYPE_INT32", "1")), "");
  TRITONBACKEND_Request request;
  Fill(&request, 5, 1);
  request.AddInput<int32_t>("STATE_IN", TRITONSERVER_TYPE_INT32, {1, 1}, {30});
  request.outputs = {"STATE_OUT"};
  request.has_states = true;
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_EQ(request.Answer().outputs.at("STATE_OUT").As<int32_t>(), std::vector<int32_t>{5});
  EXPECT_EQ(request.State("STATE_OUT").As<int32_t>(), std::vector<int32_t>{5});
}

TEST_F(SequenceTest, AStateThatTheServerDoesNotKeepIsAFailure) {
  ASSERT_EQ(LoadSequence(kState), "");
  TRITONBACKEND_Request request;
  Fill(&request, 5, 1);
  request.AddInput<int32_t>("STATE_IN", TRITONSERVER_TYPE_INT32, {1, 1}, {30});
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_TRUE(request.Answer().failed);
}

}  // namespace
}  // namespace nereid::custom::testing

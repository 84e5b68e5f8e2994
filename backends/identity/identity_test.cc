// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "identity/custom_trace.h"
#include "testing/fake_server.h"

namespace nereid::backend::testing {
namespace {

class IdentityTest : public ::testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(LiveErrors(), 0);
    EXPECT_EQ(LiveMessages(), 0);
    EXPECT_EQ(LiveResponses(), 0);
    Faults() = {};
  }

  static std::string Tensor(const std::string& name, const std::string& type,
                            const std::string& more = "") {
    return R"({"name":")" + name + R"(","data_type":")" + type + R"(","dims":[-1])" + more + "}";
  }
  static std::string Config(const std::string& inputs, const std::string& outputs,
                            const std::string& parameters = "", int max_batch_size = 8) {
    return R"({"name":"m","max_batch_size":)" + std::to_string(max_batch_size) + R"(,"input":[)" +
           inputs + R"(],"output":[)" + outputs + R"(],"parameters":{)" + parameters + "}}";
  }
  std::string Load(const std::string& config) {
    server_.model().config = config;
    return server_.Load();
  }

  FakeServer server_;
};

TEST_F(IdentityTest, CopiesEveryRequestOfABatch) {
  ASSERT_EQ(Load(Config(Tensor("INPUT0", "TYPE_FP32"), Tensor("OUTPUT0", "TYPE_FP32"))), "");
  TRITONBACKEND_Request a;
  TRITONBACKEND_Request b;
  a.AddInput<float>("INPUT0", TRITONSERVER_TYPE_FP32, {1, 2}, {1, 2});
  b.AddInput<float>("INPUT0", TRITONSERVER_TYPE_FP32, {2, 1}, {3, 4});
  a.outputs = b.outputs = {"OUTPUT0"};
  ASSERT_EQ(server_.Execute({&a, &b}), "");
  EXPECT_EQ(a.Answer().outputs.at("OUTPUT0").As<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(a.Answer().outputs.at("OUTPUT0").shape, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(b.Answer().outputs.at("OUTPUT0").As<float>(), (std::vector<float>{3, 4}));
  ASSERT_EQ(server_.instance().statistics.size(), 1u);
  EXPECT_EQ(server_.instance().statistics[0].batch_size, 3u);
}

TEST_F(IdentityTest, KeepsStatesAndShowsThemToWhoAsks) {
  for (const bool same_buffer : {false, true}) {
    const std::string state =
        R"("sequence_batching":{"state":[{"input_name":"S","output_name":"T",)"
        R"("data_type":"TYPE_INT32","dims":["-1"],"use_same_buffer_for_input_output":)" +
        std::string(same_buffer ? "true" : "false") + "}]},";
    std::string config = Config(Tensor("INPUT0", "TYPE_FP32"),
                                Tensor("T", "TYPE_INT32") + "," + Tensor("OUTPUT0", "TYPE_FP32"));
    ASSERT_EQ(Load(config.insert(1, state)), "");
    TRITONBACKEND_Request request;
    request.AddInput<float>("INPUT0", TRITONSERVER_TYPE_FP32, {1, 1}, {1});
    request.AddInput<int32_t>("S", TRITONSERVER_TYPE_INT32, {1, 2}, {3, 4});
    request.outputs = {"OUTPUT0", "T"};
    request.has_states = true;
    ASSERT_EQ(server_.Execute({&request}), "");
    EXPECT_EQ(request.Answer().outputs.at("T").As<int32_t>(), (std::vector<int32_t>{3, 4}));
    EXPECT_EQ(request.Answer().outputs.at("OUTPUT0").As<float>(), std::vector<float>{1});
    EXPECT_EQ(request.State("T").shape, (std::vector<int64_t>{1, 2}));
    if (!same_buffer) {
      EXPECT_EQ(request.State("T").As<int32_t>(), (std::vector<int32_t>{3, 4}));
    }
  }
}

TEST_F(IdentityTest, TextsAndPiecesAndOnlyWantedOutputs) {
  ASSERT_EQ(Load(Config(Tensor("a", "TYPE_STRING") + "," + Tensor("b", "TYPE_INT64"),
                        Tensor("x", "TYPE_STRING") + "," + Tensor("y", "TYPE_INT64"), "", 0)),
            "");
  TRITONBACKEND_Request request;
  auto& input =
      request.AddRaw("a", TRITONSERVER_TYPE_BYTES, {2}, BytesTensor({"one", std::string(3, '\0')}));
  const std::vector<char> whole = input.pieces[0];
  input.pieces = {{whole.begin(), whole.begin() + 2}, {whole.begin() + 2, whole.end()}};
  request.AddInput<int64_t>("b", TRITONSERVER_TYPE_INT64, {0}, {});
  request.outputs = {"x"};
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_EQ(request.Answer().outputs.size(), 1u);
  EXPECT_EQ(BytesElements(request.Answer().outputs.at("x").data),
            (std::vector<std::string>{"one", std::string(3, '\0')}));
  ASSERT_EQ(server_.instance().statistics.size(), 1u);
  EXPECT_EQ(server_.instance().statistics[0].batch_size, 1u);
}

TEST_F(IdentityTest, NumberedNamesArePairedByNumber) {
  ASSERT_EQ(Load(Config(Tensor("INPUT0", "TYPE_INT8") + "," + Tensor("INPUT1", "TYPE_FP64"),
                        Tensor("OUTPUT1", "TYPE_FP64") + "," + Tensor("OUTPUT0", "TYPE_INT8"))),
            "");
}

TEST_F(IdentityTest, FailParameterFailsItsRequestOnly) {
  ASSERT_EQ(Load(Config(Tensor("INPUT0", "TYPE_INT8"), Tensor("OUTPUT0", "TYPE_INT8"),
                        R"("echo_parameters":{"string_value":"true"})")),
            "");
  TRITONBACKEND_Request good;
  TRITONBACKEND_Request bad;
  good.AddInput<int8_t>("INPUT0", TRITONSERVER_TYPE_INT8, {1, 1}, {5});
  bad.AddInput<int8_t>("INPUT0", TRITONSERVER_TYPE_INT8, {1, 1}, {6});
  good.parameters = {{"n", int64_t{4}}, {"b", true}, {"d", 0.5}, {"s", std::string("t")}};
  bad.parameters = {{"fail", std::string("as asked")}};
  good.outputs = bad.outputs = {"OUTPUT0"};
  ASSERT_EQ(server_.Execute({&good, &bad}), "");
  EXPECT_EQ(bad.Answer().message, "as asked");
  EXPECT_EQ(good.Answer().outputs.at("OUTPUT0").As<int8_t>(), std::vector<int8_t>{5});
  EXPECT_EQ(std::get<int64_t>(good.Answer().parameters.at("n")), 4);
  EXPECT_EQ(std::get<bool>(good.Answer().parameters.at("b")), true);
  EXPECT_EQ(std::get<double>(good.Answer().parameters.at("d")), 0.5);
  EXPECT_EQ(std::get<std::string>(good.Answer().parameters.at("s")), "t");
}

TEST_F(IdentityTest, ResponsesCarryExampleParameters) {
  const auto answer = [&](const std::string& settings) {
    server_.backend().config = R"({"cmdline":{)" + settings + "}}";
    EXPECT_EQ(Load(Config(Tensor("INPUT0", "TYPE_INT8"), Tensor("OUTPUT0", "TYPE_INT8"))), "");
    TRITONBACKEND_Request request;
    request.AddInput<int8_t>("INPUT0", TRITONSERVER_TYPE_INT8, {1, 1}, {5});
    request.outputs = {"OUTPUT0"};
    EXPECT_EQ(server_.Execute({&request}), "");
    return request.Answer().parameters;
  };
  const auto shown = answer("");
  ASSERT_EQ(shown.size(), 4u);
  EXPECT_EQ(std::get<std::string>(shown.at("param0")), "an example string parameter");
  EXPECT_EQ(std::get<int64_t>(shown.at("param1")), 42);
  EXPECT_EQ(std::get<bool>(shown.at("param2")), false);
  EXPECT_EQ(std::get<double>(shown.at("param3")), 123.123);
  EXPECT_TRUE(answer(R"("example-parameters":"false")").empty());
}

TEST_F(IdentityTest, TracesHaveActivitiesOfTheModelsOwn) {
  identity::CustomTrace custom;
  custom.nested = 3;
  custom.single_every = 2;
  custom.length = {};
  TRITONBACKEND_Request request;
  EXPECT_TRUE(custom.Report(&request).ok());  // without a trace
  TRITONSERVER_InferenceTrace trace;
  request.trace = &trace;
  EXPECT_TRUE(custom.Report(&request).ok());
  EXPECT_EQ(trace.activities,
            (std::vector<std::string>{
                "CUSTOM_ACTIVITY_START", "CUSTOM_ACTIVITY_END", "CUSTOM_SINGLE_ACTIVITY",
                "CUSTOM_ACTIVITY0_START", "CUSTOM_SINGLE_ACTIVITY", "CUSTOM_ACTIVITY1_START",
                "CUSTOM_ACTIVITY2_START", "CUSTOM_SINGLE_ACTIVITY", "CUSTOM_ACTIVITY2_END",
                "CUSTOM_ACTIVITY1_END", "CUSTOM_ACTIVITY0_END"}));
}

TEST_F(IdentityTest, CustomTracingIsAParameter) {
  const auto load = [&](const std::string& parameters) {
    return Load(Config(Tensor("INPUT0", "TYPE_INT8"), Tensor("OUTPUT0", "TYPE_INT8"), parameters));
  };
  EXPECT_EQ(load(R"("enable_custom_tracing":{"string_value":"true"},)"
                 R"("nested_span_count":{"string_value":"6"},)"
                 R"("single_activity_frequency":{"string_value":"3"})"),
            "");
  EXPECT_NE(load(R"("single_activity_frequency":{"string_value":"0"})"), "");
  EXPECT_NE(load(R"("nested_span_count":{"string_value":"many"})"), "");
}

TEST_F(IdentityTest, AbsentOptionalInputGivesZeros) {
  ASSERT_EQ(Load(Config(Tensor("INPUT0", "TYPE_INT32") + "," +
                            Tensor("INPUT1", "TYPE_INT32", R"(,"optional":true)"),
                        Tensor("OUTPUT0", "TYPE_INT32") + "," + Tensor("OUTPUT1", "TYPE_INT32"))),
            "");
  TRITONBACKEND_Request request;
  request.AddInput<int32_t>("INPUT0", TRITONSERVER_TYPE_INT32, {2, 1}, {7, 8});
  request.outputs = {"OUTPUT0", "OUTPUT1"};
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_EQ(request.Answer().outputs.at("OUTPUT1").shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(request.Answer().outputs.at("OUTPUT1").As<int32_t>(), (std::vector<int32_t>{0, 0}));
}

TEST_F(IdentityTest, RaggedRequestsOfABatchAndBatchInputs) {
  ASSERT_EQ(Load(R"({"name":"m","max_batch_size":8,"input":[)" +
                 Tensor("INPUT0", "TYPE_INT8", R"(,"allow_ragged_batch":true)") +
                 R"(],"output":[)" + Tensor("OUTPUT0", "TYPE_INT8") +
                 R"(],"batch_input":[{"kind":"BATCH_ELEMENT_COUNT","target_name":["count"],)"
                 R"("data_type":"TYPE_INT32","source_input":["INPUT0"]}]})"),
            "");
  TRITONBACKEND_Request a, b;
  a.AddInput<int8_t>("INPUT0", TRITONSERVER_TYPE_INT8, {1, 1}, {5});
  b.AddInput<int8_t>("INPUT0", TRITONSERVER_TYPE_INT8, {1, 3}, {6, 7, 8});
  a.outputs = b.outputs = {"OUTPUT0"};
  ASSERT_EQ(server_.Execute({&a, &b}), "");
  EXPECT_EQ(a.Answer().outputs.at("OUTPUT0").As<int8_t>(), (std::vector<int8_t>{5}));
  EXPECT_EQ(b.Answer().outputs.at("OUTPUT0").As<int8_t>(), (std::vector<int8_t>{6, 7, 8}));
}

TEST_F(IdentityTest, BadRequestsGetErrors) {
  ASSERT_EQ(Load(Config(Tensor("INPUT0", "TYPE_INT8"), Tensor("OUTPUT0", "TYPE_INT8"))), "");
  TRITONBACKEND_Request no_batch;
  no_batch.AddInput<int8_t>("INPUT0", TRITONSERVER_TYPE_INT8, {}, {5});
  TRITONBACKEND_Request no_input;
  TRITONBACKEND_Request wrong_output;
  wrong_output.AddInput<int8_t>("INPUT0", TRITONSERVER_TYPE_INT8, {1, 1}, {5});
  TRITONBACKEND_Request short_input;
  short_input.AddInput<int8_t>("INPUT0", TRITONSERVER_TYPE_INT8, {1, 2}, {5}).byte_size = 2;
  no_batch.outputs = no_input.outputs = short_input.outputs = {"OUTPUT0"};
  wrong_output.outputs = {"nothing"};
  ASSERT_EQ(server_.Execute({&no_batch, &no_input, &wrong_output, &short_input}), "");
  for (const TRITONBACKEND_Request* request : {&no_batch, &no_input, &wrong_output, &short_input}) {
    EXPECT_TRUE(request->Answer().failed);
  }
  TRITONBACKEND_Request gpu;
  gpu.AddInput<int8_t>("INPUT0", TRITONSERVER_TYPE_INT8, {1, 1}, {5});
  gpu.outputs = {"OUTPUT0"};
  Faults().output_buffer_is_gpu = true;
  ASSERT_EQ(server_.Execute({&gpu}), "");
  EXPECT_EQ(gpu.Answer().code, TRITONSERVER_ERROR_UNSUPPORTED);
}

TEST_F(IdentityTest, ConfigurationsThatCannotWork) {
  const auto failure = [](const std::string& config) {
    FakeServer server;
    server.model().config = config;
    return server.Load();
  };
  EXPECT_EQ(failure(Config(Tensor("a", "TYPE_INT8"), Tensor("x", "TYPE_FP32"))),
            "model 'm': output 'x' is of type TYPE_FP32, but its input 'a' of type TYPE_INT8");
  EXPECT_NE(failure(Config("", Tensor("x", "TYPE_FP32"))), "");
  EXPECT_EQ(failure(Config(Tensor("a", "TYPE_INT8"), Tensor("x", "TYPE_INT8"),
                           R"("execute_delay_ms":{"string_value":"soon"})")),
            "model 'm': parameter 'execute_delay_ms' is 'soon', but must be an integer from 0 to "
            "86400000");
}

TEST_F(IdentityTest, TheDelayIsCounted) {
  ASSERT_EQ(Load(Config(Tensor("INPUT0", "TYPE_INT8"), Tensor("OUTPUT0", "TYPE_INT8"),
                        R"("execute_delay_ms":{"string_value":"1"},)"
                        R"("instance_wise_delay_multiplier":{"string_value":"2"})")),
            "");
  TRITONBACKEND_Request request;
  request.AddInput<int8_t>("INPUT0", TRITONSERVER_TYPE_INT8, {1, 1}, {5});
  request.outputs = {"OUTPUT0"};
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_FALSE(request.Answer().failed);
  const auto& times = request.statistics[0];
  EXPECT_GE(times.compute_end_ns - times.compute_start_ns, 1000000u);
}

TEST_F(IdentityTest, CancelledWhileWaiting) {
  // A day is not waited for: the delay ends with the last request that somebody waits for.
  ASSERT_EQ(Load(Config(Tensor("INPUT0", "TYPE_INT8"), Tensor("OUTPUT0", "TYPE_INT8"),
                        R"("execute_delay_ms":{"string_value":"86400000"})")),
            "");
  TRITONBACKEND_Request early, late, failed;
  for (auto* request : {&early, &late, &failed}) {
    request->AddInput<int8_t>("INPUT0", TRITONSERVER_TYPE_INT8, {1, 1}, {5});
    request->outputs = {"OUTPUT0"};
  }
  early.cancelled_at_poll = 1;
  late.cancelled_at_poll = 3;
  failed.parameters = {{"fail", std::string("as asked")}};
  ASSERT_EQ(server_.Execute({&early, &late, &failed}), "");
  EXPECT_EQ(early.Answer().code, TRITONSERVER_ERROR_CANCELLED);
  EXPECT_EQ(early.cancellation_polls, 1);
  EXPECT_EQ(late.Answer().code, TRITONSERVER_ERROR_CANCELLED);
  EXPECT_LT(early.statistics[0].exec_end_ns, late.statistics[0].exec_end_ns);
  EXPECT_EQ(failed.Answer().message, "as asked");
}

}  // namespace
}  // namespace nereid::backend::testing

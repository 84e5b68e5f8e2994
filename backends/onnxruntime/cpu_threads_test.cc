// SPDX-License-Identifier: Apache-2.0
// The sessions of a model whose number of threads the server chooses for each execution.
#include "nereid/backend/cpu_threads.h"

#include <gmock/gmock.h>

#include "nereid/backend/error.h"
#include "onnxruntime/onnx_fixture.h"

namespace nereid::onnxruntime {
namespace {

using ::testing::HasSubstr;

class CpuThreadsTest : public OnnxTest {
 protected:
  /// Loads a model with these parameters, besides what the server adds.
  void LoadWith(const std::string& parameters) {
    ASSERT_EQ(Load("mlp",
                   R"("parameters":{"cpu_threads_per_instance":{"string_value":"2"},)"
                   R"("cpu_threads_vary":{"string_value":"true"})" +
                       parameters + "}",
                   true),
              "");
  }
  std::string Prepare(uint32_t threads) {
    return backend::Error(NEREIDBACKEND_ModelPrepareThreads(&server_.model(), threads)).message();
  }
  std::vector<float> Run() {
    TRITONBACKEND_Request request;
    request.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {1, 64}, std::vector<float>(64, 0.5f));
    request.outputs = {"y"};
    EXPECT_EQ(server_.Execute({&request}), "");
    return request.Answer().outputs.at("y").As<float>();
  }
  void Set(uint32_t threads) {
    NEREIDBACKEND_ModelInstanceSetThreads(&server_.instance(), threads);
  }
};

TEST_F(CpuThreadsTest, EachNumberHasASessionWithTheSameResults) {
  LoadWith("");
  EXPECT_EQ(Prepare(1), "");
  const std::vector<float> single = Run();
  EXPECT_EQ(Prepare(2), "");
  EXPECT_EQ(Prepare(2), "") << "again";
  for (const uint32_t threads : {2, 1, 2}) {
    Set(threads);
    EXPECT_THAT(Run(), ::testing::Pointwise(::testing::FloatNear(1e-3f), single));
  }
}

TEST_F(CpuThreadsTest, ANumberThatIsNotPreparedChangesNothing) {
  LoadWith("");
  Set(64);
  EXPECT_EQ(Run().size(), 10u);
}

TEST_F(CpuThreadsTest, ASettingFixesTheNumber) {
  for (const char* parameter : {R"(,"intra_op_thread_count":{"string_value":"1"})",
                                R"(,"execution_mode":{"string_value":"0"})",
                                R"(,"session.intra_op.allow_spinning":{"string_value":"0"})",
                                R"(,"share_session_between_instances":{"string_value":"false"})"}) {
    LoadWith(parameter);
    EXPECT_THAT(Prepare(1), HasSubstr("fixed")) << parameter;
    Set(2);
    EXPECT_EQ(Run().size(), 10u) << parameter;
  }
}

TEST_F(CpuThreadsTest, WithoutTheServersParameterTheNumberIsFixed) {
  ASSERT_EQ(LoadComplete("mlp"), "");
  EXPECT_THAT(Prepare(2), HasSubstr("fixed"));
}

}  // namespace
}  // namespace nereid::onnxruntime

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>

#include "onnxruntime/onnx_fixture.h"

namespace nereid::onnxruntime {
namespace {

using ::testing::HasSubstr;

class LoadTest : public OnnxTest {
 protected:
  static std::string Mlp(const std::string& more = "") {
    return Io(8, Tensor("x", "FP32", "[64]"), Tensor("y", "FP32", "[10]"), more);
  }
};

TEST_F(LoadTest, AFileThatIsMissing) {
  EXPECT_THAT(Load("absent", Mlp()), HasSubstr("unable to find '"));
}

TEST_F(LoadTest, AFileOutsideTheVersionsFolder) {
  EXPECT_THAT(Load("mlp", Mlp(R"("default_model_filename":"../../mlp/1/model.onnx")")),
              HasSubstr("leads out of the version's folder"));
}

TEST_F(LoadTest, AFileThatIsNoModel) {
  EXPECT_THAT(Load("../models", Mlp(R"("default_model_filename":"model.onnx")")),
              HasSubstr("unable to find"));
  server_.model().version = 1;
}

TEST_F(LoadTest, AnInputThatTheModelLacks) {
  EXPECT_EQ(Load("mlp", Io(8, Tensor("z", "FP32", "[64]"), Tensor("y", "FP32", "[10]"))),
            "unexpected inference input 'z', allowed inputs are: x");
}

TEST_F(LoadTest, AnInputThatTheConfigurationLacks) {
  EXPECT_EQ(Load("accumulate", Io(8, Tensor("x", "FP32", "[4]"), Tensor("y", "FP32", "[4]"))),
            "unable to load model 'accumulate', configuration expects 1 inputs, model provides 2");
}

TEST_F(LoadTest, AnOutputThatTheModelLacks) {
  EXPECT_EQ(Load("mlp", Io(8, Tensor("x", "FP32", "[64]"), Tensor("z", "FP32", "[10]"))),
            "unexpected inference output 'z', allowed outputs are: y");
}

TEST_F(LoadTest, AnotherDataType) {
  EXPECT_EQ(Load("mlp", Io(8, Tensor("x", "INT32", "[64]"), Tensor("y", "FP32", "[10]"))),
            "unable to load model 'mlp', configuration expects datatype TYPE_INT32 for input 'x', "
            "model provides TYPE_FP32");
}

TEST_F(LoadTest, OtherDimensions) {
  EXPECT_EQ(Load("mlp", Io(8, Tensor("x", "FP32", "[65]"), Tensor("y", "FP32", "[10]"))),
            "model 'mlp', tensor 'x': the model expects 2 dimensions (shape [-1,64]) but the model "
            "configuration specifies 2 dimensions (an initial batch dimension because "
            "max_batch_size > 0 followed by the explicit tensor shape, making complete shape "
            "[-1,65])");
}

TEST_F(LoadTest, BatchingOfAModelWithFixedFirstDimension) {
  EXPECT_THAT(Load("fixed", Io(8, Tensor("x", "FP32", "[3]"), Tensor("y", "FP32", "[3]"))),
              HasSubstr("for the model to support batching the shape should have at least 1 "
                        "dimension and the first dimension must be -1; but shape expected by the "
                        "model is [2,3]"));
}

TEST_F(LoadTest, ReshapeIsWhatTheModelSees) {
  EXPECT_EQ(Load("mlp", Io(8, Tensor("x", "FP32", "[8,8]", R"(,"reshape":{"shape":[64]})"),
                           Tensor("y", "FP32", "[10]"))),
            "");
}

TEST_F(LoadTest, FeaturesThatAreMissingAreNamed) {
  EXPECT_EQ(Load("mlp", Mlp(R"("model_transaction_policy":{"decoupled":true})")),
            "model 'mlp': model_transaction_policy.decoupled is not supported by "
            "the ONNX Runtime backend");
}

TEST_F(LoadTest, TheAcceleratorThatIsABackendOfItsOwn) {
  // Nothing stands beside the test's own folder.
  server_.backend().directory = ::testing::TempDir() + "alone/onnxruntime";
  const std::string error = Load("mlp", Mlp(R"("optimization":{"execution_accelerators":{
      "cpu_execution_accelerator":[{"name":"openvino"}]}})"));
  EXPECT_THAT(error,
              HasSubstr("model 'mlp': the Execution Accelerator 'openvino' needs the backend "
                        "'openvino', but there is no "));
  EXPECT_THAT(error, HasSubstr("alone/openvino/libtriton_openvino.so; install it (./start "
                               "--backends openvino), or remove the accelerator"));
}

TEST_F(LoadTest, SettingsForGpusAreNamedInOneLine) {
  backend::testing::LogLines().clear();
  EXPECT_EQ(Load("mlp", Mlp(R"("optimization":{"priority":"PRIORITY_MAX","cuda":{"graphs":true},
      "input_pinned_memory":{"enable":true},"output_pinned_memory":{"enable":false},
      "execution_accelerators":{"gpu_execution_accelerator":[{"name":"tensorrt",
        "parameters":{"precision_mode":"FP16"}}]}},
      "cc_model_filenames":{"7.5":"other.onnx"},
      "parameters":{"share_session_between_instances":{"string_value":"false"}},
      "instance_group":[{"count":2,"secondary_devices":[{"kind":"KIND_NVDLA","device_id":0}]}])")),
            "");
  const auto& lines = backend::testing::LogLines();
  EXPECT_EQ(std::count(lines.begin(), lines.end(),
                       "model 'mlp' runs on the CPU and ignores these settings for GPUs: "
                       "optimization.priority, optimization.cuda, cc_model_filenames, the "
                       "Execution Accelerator 'tensorrt'"),
            1);
}

TEST_F(LoadTest, OperatorsThatTheModelNeeds) {
  const std::string io = Io(8, Tensor("x", "FP32", "[-1]"), Tensor("y", "FP32", "[-1]"),
                            R"("model_operations":{"op_library_filename":["LIBRARY"]})");
  const auto with = [&](const std::string& library) {
    return std::string(io).replace(io.find("LIBRARY"), 7, library);
  };
  EXPECT_THAT(Load("triple", Io(8, Tensor("x", "FP32", "[-1]"), Tensor("y", "FP32", "[-1]"))),
              HasSubstr("Triple"));
  EXPECT_THAT(Load("triple", with("absent.so")),
              HasSubstr("model 'triple': model_operations.op_library_filename 'absent.so' is not "
                        "there; tried '"));
  EXPECT_THAT(Load("triple", with("1/model.onnx")),
              HasSubstr("cannot be used: onnx runtime error"));
  ASSERT_EQ(Load("triple", with(OperatorLibrary())), "");
  TRITONBACKEND_Request request;
  request.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {1, 2}, {2, 5});
  request.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_EQ(request.Answer().outputs.at("y").As<float>(), (std::vector<float>{6, 15}));
}

TEST_F(LoadTest, GpuInstances) {
  server_.instance().kind = TRITONSERVER_INSTANCEGROUPKIND_GPU;
  EXPECT_THAT(Load("mlp", Mlp()), testing::AllOf(HasSubstr("ONNX Runtime cannot use GPU 0: "),
                                                 HasSubstr("kind to KIND_CPU")));
}

TEST_F(LoadTest, GraphLevelsAndParameters) {
  EXPECT_EQ(Load("mlp", Mlp(R"("optimization":{"graph":{"level":2}},
      "instance_group":[{"count":2}],
      "parameters":{"intra_op_thread_count":{"string_value":"2"},
        "inter_op_thread_count":{"string_value":"1"},"execution_mode":{"string_value":"1"},
        "enable_mem_arena":{"string_value":"0"},"enable_mem_pattern":{"string_value":"0"},
        "memory.enable_memory_arena_shrinkage":{"string_value":""},
        "session.use_device_allocator_for_initializers":{"string_value":"1"},
        "share_session_between_instances":{"string_value":"false"}})")),
            "");
}

TEST_F(LoadTest, SettingsOfTheMemoryAreLoggedInTritonsWords) {
  backend::testing::Faults().logs_verbose = true;
  backend::testing::LogLines().clear();
  ASSERT_EQ(Load("mlp", Mlp(R"("parameters":{"enable_mem_arena":{"string_value":"1"},
      "enable_mem_pattern":{"string_value":"1"},
      "memory.enable_memory_arena_shrinkage":{"string_value":"cpu:0"}})")),
            "");
  EXPECT_THAT(backend::testing::LogLines(),
              testing::IsSupersetOf({"Configuring enable_mem_arena to 1",
                                     "Configuring enable_mem_pattern to 1",
                                     "Configuring memory.enable_memory_arena_shrinkage to cpu:0"}));
}

TEST_F(LoadTest, ShrinkingAnArenaThatIsOff) {
  EXPECT_THAT(Load("mlp", Mlp(R"("parameters":{"enable_mem_arena":{"string_value":"0"},
      "memory.enable_memory_arena_shrinkage":{"string_value":"cpu:0"}})")),
              HasSubstr("is 'cpu:0', but 'enable_mem_arena' switches the arena off"));
}

TEST_F(LoadTest, AGraphLevelThatDoesNotExist) {
  EXPECT_THAT(Load("mlp", Mlp(R"("optimization":{"graph":{"level":7}})")),
              HasSubstr("optimization.graph.level is 7"));
}

TEST_F(LoadTest, ASessionEntryThatOnnxRuntimeRefuses) {
  EXPECT_THAT(
      Load("mlp", Mlp(R"("parameters":{"session.load_model_format":{"string_value":"ORT"}})")),
      HasSubstr("onnx runtime error"));
}

TEST_F(LoadTest, AThreadCountThatIsNoNumber) {
  EXPECT_THAT(Load("mlp", Mlp(R"("parameters":{"intra_op_thread_count":{"string_value":"many"}})")),
              HasSubstr("parameter 'intra_op_thread_count' is 'many'"));
}

TEST_F(LoadTest, RaggedInputsMustBeFlat) {
  EXPECT_THAT(Load("mlp", Io(8, Tensor("x", "FP32", "[64]", R"(,"allow_ragged_batch":true)"),
                             Tensor("y", "FP32", "[10]"))),
              HasSubstr("configuration expects model provides input with shape [-1]  for ragged "
                        "input 'x', model provides [-1,64]"));
}

TEST_F(LoadTest, ASequenceCannotBeServed) {
  EXPECT_THAT(Load("sequence", Io(8, Tensor("x", "FP32", "[4]"), Tensor("parts", "FP32", "[4]"))),
              HasSubstr("is no tensor in the ONNX model"));
}

}  // namespace
}  // namespace nereid::onnxruntime

// SPDX-License-Identifier: Apache-2.0
// Ensembles whose members are on GPUs: where the tensors between them are.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "ensemble/ensemble_request.h"
#include "ensemble/testing/make_plan.h"
#include "ensemble/testing/member_version.h"
#include "memory/gpu/gpu_pools.h"
#include "memory/gpu/testing/gpu_bytes.h"
#include "request/binding.h"
#include "request/response_factory.h"
#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"

namespace nereid::ensemble {
namespace {

using base::Status;
using memory::GpuPools;
using memory::MemoryType;
using request::InferenceRequest;
using RequestPtr = std::unique_ptr<InferenceRequest>;

std::string Content(const request::InputPiece& piece) {
  return piece.memory_type == MemoryType::kGpu ? memory::ReadGpu(piece.data, piece.size)
                                               : std::string(piece.data, piece.size);
}

/// A model on a GPU or on the CPU that copies the bytes of its first input to each output.
class FakeVersion final : public MemberVersion {
 public:
  FakeVersion(const std::string& text, bool on_gpu) : MemberVersion(text), on_gpu_(on_gpu) {}

  Status Enqueue(RequestPtr& taken) override {
    RequestPtr request = std::move(taken);
    input_type = request->inputs().at(0).pieces.at(0).memory_type;
    has_gpu_memory = request->has_gpu_memory;
    const std::string bytes = Content(request->inputs().at(0).pieces.at(0));
    const auto factory = request->response_factory();
    auto response = std::move(factory->NewResponse()).value();
    for (const std::string& name : request->requested_outputs) {
      auto* const output =
          std::move(response->AddOutput(name, tensor::DataType::kInt32, {1})).value();
      output_type = on_gpu_ ? MemoryType::kGpu : MemoryType::kCpu;
      MemoryType asked = output_type;
      int64_t id = 0;
      EXPECT_TRUE(request->sink()->QueryOutput(name, nullptr, &asked, &id).ok());
      EXPECT_TRUE(response->AllocateOutput(output, 4, &output_type, &id).ok());
      EXPECT_TRUE(output_type == asked || falls_back) << "the query says something else";
      if (output_type == MemoryType::kGpu) {
        memory::WriteGpu(output->data, bytes);
      } else {
        std::memcpy(output->data, bytes.data(), 4);
      }
    }
    factory->Send(std::move(response), true);
    const auto sink = request->sink();
    request->Unbind();
    sink->RequestReleased(std::move(request));
    return Status::Ok();
  }

  // Of the last request.
  MemoryType input_type = MemoryType::kCpu, output_type = MemoryType::kCpu;
  bool has_gpu_memory = false;
  bool falls_back = false;  // the GPU has no memory

 private:
  const bool on_gpu_;
};

class NoObserver final : public EnsembleObserver {
 public:
  void OnAnswer(const InferenceRequest&, const Status&) override {}
  void OnEnd(const InferenceRequest&, const request::ComputeTimes&) override {}
};

/// A client that wants its outputs in GPU memory.
class GpuSink final : public request::RecordingSink {
 public:
  Status QueryOutput(std::string_view, size_t*, MemoryType*, int64_t*) noexcept override {
    return Status::Ok();  // whatever is preferred
  }
  Status LendOutput(request::Output* output, request::LentBytes bytes) noexcept override {
    lent = bytes.memory_type;
    return RecordingSink::LendOutput(output, std::move(bytes));
  }
  MemoryType lent = MemoryType::kCpu;
};

/// Models whose names begin with 'G' are on a GPU.
class EnsembleGpuTest : public ::testing::Test, private MemberDirectory {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(memory::HasFakeGpus()); }
  void TearDown() override {
    sink_->Clear();
    for (const auto& [gpu, use] : GpuPools::Get().GpuUses()) EXPECT_EQ(use.used_bytes, 0u);
    GpuPools::Get().Trim();
    GpuPools::Get().Configure({});
  }

  void Run(const std::vector<PlannedStep>& steps, std::vector<std::string> outputs = {"y"},
           bool has_gpu_memory = false) {
    plan_.emplace(MakePlan(steps));
    const std::set<std::string> also(outputs.begin(), outputs.end());
    const auto model = request::MakeModel(EnsembleText(steps, 0, also));
    for (const PlannedStep& step : steps) {
      std::string text = "name: \"" + step.model + "\" ";
      for (const auto& [kind, names] :
           {std::pair{"input", &step.inputs}, std::pair{"output", &step.outputs}}) {
        for (const std::string& name : *names) {
          text +=
              std::string(kind) + " { name: \"" + name + "\" data_type: TYPE_INT32 dims: [ 1 ] }";
        }
      }
      const bool on_gpu = step.model[0] == 'G';
      text += on_gpu ? " instance_group { kind: KIND_GPU gpus: [ 0 ] }"
                     : " instance_group { kind: KIND_CPU }";
      versions_.emplace(step.model, std::make_unique<FakeVersion>(text, on_gpu));
      versions_.at(step.model)->falls_back = falls_back_;
      limits_.push_back(std::make_unique<StepLimit>(100));
    }
    parts_.emplace(EnsembleParts{*plan_, *this, limits_, timers_, clock_, observer_});
    auto request = std::make_unique<InferenceRequest>();
    request->requested_outputs = std::move(outputs);
    request->has_gpu_memory = has_gpu_memory;
    request->SetSink(sink_);
    auto added = request->AddInput("x", tensor::DataType::kInt32, {1});
    (*added)->Append("1234", 4);
    (*added)->model_shape = {1};
    request::BindRequest(*request, model);
    EnsembleRequest::Start(*parts_, std::move(request));
  }
  base::Result<Member> Find(const std::string&, const std::string& name, int64_t,
                            const request::RequestFields*) const override {
    FakeVersion& version = *versions_.at(name);
    return Member{version.shared_identity(), &version};
  }
  FakeVersion& Model(const std::string& name) { return *versions_.at(name); }
  std::string Answer(size_t index = 0) {
    EXPECT_EQ(sink_->errors().size(), 1u);
    EXPECT_TRUE(sink_->errors().at(0).ok()) << sink_->errors().at(0).message();
    const request::Output& output = *sink_->responses().at(0)->outputs().at(index);
    EXPECT_EQ(output.memory_type, MemoryType::kCpu);
    return {output.data, output.size};
  }

  std::shared_ptr<GpuSink> sink_ = std::make_shared<GpuSink>();
  std::map<std::string, std::unique_ptr<FakeVersion>> versions_;
  std::vector<std::unique_ptr<StepLimit>> limits_;
  base::FakeClock clock_;
  base::ManualTimerQueue timers_{clock_};
  NoObserver observer_;
  std::optional<EnsemblePlan> plan_;
  std::optional<EnsembleParts> parts_;
  bool falls_back_ = false;
};

TEST_F(EnsembleGpuTest, TensorsBetweenModelsOnGpusStayThere) {
  Run({{"G1", {"x"}, {"a"}}, {"G2", {"a"}, {"b"}}, {"G3", {"b"}, {"y"}}});
  EXPECT_EQ(Model("G1").output_type, MemoryType::kGpu);
  EXPECT_EQ(Model("G2").input_type, MemoryType::kGpu);
  EXPECT_TRUE(Model("G2").has_gpu_memory) << "must not run on an event loop";
  EXPECT_EQ(Model("G3").input_type, MemoryType::kGpu);
  EXPECT_EQ(Model("G3").output_type, MemoryType::kCpu) << "is for the client";
  EXPECT_EQ(Answer(), "1234");
}

TEST_F(EnsembleGpuTest, AReaderOnTheCpuGetsHostMemory) {
  Run({{"G1", {"x"}, {"a"}}, {"G2", {"a"}, {"b"}}, {"C1", {"a", "b"}, {"y"}}});
  EXPECT_EQ(Model("G1").output_type, MemoryType::kCpu);
  EXPECT_EQ(Model("G2").output_type, MemoryType::kCpu);
  EXPECT_FALSE(Model("C1").has_gpu_memory);
  EXPECT_EQ(Answer(), "1234");
}

TEST_F(EnsembleGpuTest, ATensorThatTheClientRequestsIsInHostMemory) {
  Run({{"G1", {"x"}, {"a"}}, {"G2", {"a"}, {"y"}}}, {"y", "a"});
  EXPECT_EQ(Model("G1").output_type, MemoryType::kCpu);
  EXPECT_EQ(Answer(0), "1234");
  EXPECT_EQ(Answer(1), "1234");
}

TEST_F(EnsembleGpuTest, AClientWithGpuMemoryGetsTheTensorFromTheGpu) {
  Run({{"G1", {"x"}, {"a"}}, {"G2", {"a"}, {"y"}}}, {"y"}, /*has_gpu_memory=*/true);
  EXPECT_EQ(Model("G2").output_type, MemoryType::kGpu);
  EXPECT_EQ(sink_->lent, MemoryType::kGpu);
  EXPECT_EQ(Answer(), "1234") << "which the default of a sink copies to the host";
}

TEST_F(EnsembleGpuTest, WithoutGpuMemoryTensorsGoThroughTheHost) {
  memory::GpuMemorySettings settings;
  settings.pool_bytes = {{0, 0}};
  GpuPools::Get().Configure(settings);
  falls_back_ = true;
  Run({{"G1", {"x"}, {"a"}}, {"G2", {"a"}, {"y"}}});
  EXPECT_EQ(Model("G1").output_type, MemoryType::kCpu);
  EXPECT_EQ(Answer(), "1234");
}

}  // namespace
}  // namespace nereid::ensemble

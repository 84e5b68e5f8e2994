// SPDX-License-Identifier: Apache-2.0
#include "pytorch/session.h"

#include <ATen/ops/eye.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>

#include <array>
#include <barrier>
#include <thread>

namespace nereid::pytorch {
namespace {

constexpr int64_t kWidth = 4;

/// A module with a branch and a loop that depend on the data, whose code PyTorch specializes for
/// the shapes of the first runs.
std::shared_ptr<torch::jit::Module> MakeModule() {
  auto module = std::make_shared<torch::jit::Module>("Example");
  module->register_parameter("weight", at::eye(kWidth), /*is_buffer=*/false);
  module->register_buffer("bias", at::ones({kWidth}));
  module->define(R"(
def forward(self, x):
    y = torch.relu(torch.matmul(x, self.weight) + self.bias)
    if bool(torch.sum(y) > 10):
        y = y * 2
    parts = [y]
    for i in range(x.size(0)):
        parts.append(y[i:i + 1] + i)
    return torch.cat(parts)
)");
  module->eval();
  return module;
}

std::shared_ptr<const TorchPlan> PlanFor(const torch::jit::Module& module) {
  auto plan = std::make_shared<TorchPlan>();
  plan->run.model_name = "example";
  plan->run.inputs.resize(1);
  plan->run.outputs.resize(1);
  plan->naming.arguments = {0};
  plan->naming.results = {0};
  EXPECT_TRUE(ReadForward("example", module, &plan->forward).ok());
  plan->effects = FindSideEffects(module);
  return plan;
}

/// Returns what the module computes with `rows` rows that hold `value`.
std::vector<float> Expected(int64_t rows, float value) {
  const float y = value + 1;
  const float last = y * static_cast<float>(rows * kWidth) > 10 ? 2 * y : y;
  std::vector<float> expected(static_cast<size_t>(rows * kWidth), last);
  for (int64_t row = 0; row < rows; ++row) {
    expected.insert(expected.end(), kWidth, last + static_cast<float>(row));
  }
  return expected;
}

std::vector<float> Compute(framework::Session& session, int64_t rows, float value) {
  const std::vector<float> x(static_cast<size_t>(rows * kWidth), value);
  const std::array<int64_t, 2> shape = {rows, kWidth};
  framework::InputTensor input;
  input.present = true;
  input.data_type = TRITONSERVER_TYPE_FP32;
  input.shape = shape;
  input.data = reinterpret_cast<const char*>(x.data());
  input.size = x.size() * sizeof(float);
  const size_t output = 0;
  framework::OutputTensor result;
  const Error error = session.Run({&input, 1}, {&output, 1}, {&result, 1});
  if (!error.ok()) {
    ADD_FAILURE() << error.message();
    return {};
  }
  const auto* const data = reinterpret_cast<const float*>(result.data);
  return {data, data + result.size / sizeof(float)};
}

// PyTorch profiles and compiles the module in its first runs, which here happen at the same time.
TEST(Session, SeveralShareOneModuleFromItsFirstRunOn) {
  constexpr int kModules = 5;
  constexpr int kSessions = 4;
  constexpr int kRuns = 40;
  for (int round = 0; round < kModules; ++round) {
    const auto module = MakeModule();
    const auto plan = PlanFor(*module);
    ASSERT_TRUE(plan->effects.leaves_nothing);
    std::barrier start(kSessions);
    std::vector<std::thread> threads;
    for (int i = 0; i < kSessions; ++i) {
      threads.emplace_back([&, i] {
        const auto session = MakeSession(plan, module, -1);
        session->SetThreads(1 + i % 2);
        start.arrive_and_wait();
        for (int run = 0; run < kRuns; ++run) {
          const int64_t rows = 1 + (run + i) % 3;
          const auto value = static_cast<float>(run % 4);
          EXPECT_EQ(Compute(*session, rows, value), Expected(rows, value));
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
}

}  // namespace
}  // namespace nereid::pytorch

// SPDX-License-Identifier: Apache-2.0
#include "rollout/shadow_request.h"

#include <exception>
#include <utility>
#include <vector>

#include "memory/host_buffer.h"
#include "request/response_sink.h"

namespace nereid::rollout {
namespace {

using request::InferenceRequest;
using request::InferenceResponse;

AnswerTensor Describe(const request::Output& output, std::shared_ptr<const void> owner) {
  return {output.name, output.type, output.shape, {output.data, output.size}, std::move(owner)};
}

/// Receives the answer of the shadow version.
class ShadowSink final : public request::ResponseSink {
 public:
  explicit ShadowSink(std::shared_ptr<ShadowPair> pair) : pair_(std::move(pair)) {}

  void Send(std::unique_ptr<InferenceResponse> response, bool /*final*/) noexcept override {
    // The pair is given up first: it will hold the response, which keeps this sink alive.
    const std::shared_ptr<ShadowPair> pair = std::move(pair_);
    try {
      if (response != nullptr && pair != nullptr) Take(std::move(response), *pair);
    } catch (const std::exception&) {
      // No memory: the pair counts as dropped.
    }
  }

 private:
  static void Take(std::shared_ptr<InferenceResponse> response, ShadowPair& pair) {
    Answer answer;
    answer.error = response->error();
    for (const auto& output : response->outputs()) {
      if (output->memory_type == memory::MemoryType::kGpu) return;
      answer.outputs.push_back(Describe(*output, response));
    }
    pair.SetActual(std::move(answer));
  }

  std::shared_ptr<ShadowPair> pair_;
};

}  // namespace

std::unique_ptr<InferenceRequest> CopyForShadow(InferenceRequest& request,
                                                std::shared_ptr<ShadowPair> pair) {
  if (request.shared_tensors != nullptr || request.has_shared_memory) return nullptr;
  auto copy = std::make_unique<InferenceRequest>();
  static_cast<request::RequestFields&>(*copy) = request;
  copy->model_label.clear();
  copy->has_gpu_memory = request.has_gpu_memory;
  for (const request::Input& input : request.inputs()) {
    auto added = request.inputs().is_raw()
                     ? copy->inputs().AddRaw(input.name)
                     : copy->inputs().Add(input.name, input.type, input.shape);
    if (!added.ok()) return nullptr;
    (*added)->pieces = input.pieces;
  }
  copy->Hold(request.ShareHeld());
  copy->SetSink(std::make_shared<ShadowSink>(std::move(pair)));
  return copy;
}

std::optional<Answer> ShareAnswer(InferenceResponse& response) {
  Answer answer;
  answer.error = response.error();
  for (const auto& output : response.outputs()) {
    if (output->in_shared_memory || output->memory_type == memory::MemoryType::kGpu) {
      return std::nullopt;
    }
    if (output->owned) {
      output->lender = std::make_shared<const memory::HostBuffer>(std::move(output->owned));
    }
    if (output->lender == nullptr && output->size != 0) return std::nullopt;
    answer.outputs.push_back(Describe(*output, output->lender));
  }
  return answer;
}

}  // namespace nereid::rollout

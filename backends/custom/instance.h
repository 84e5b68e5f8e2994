// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "custom/model.h"
#include "custom/payloads.h"
#include "nereid/backend/batch.h"

namespace nereid::custom {

/// One instance: a context of the library. Executes on one thread at a time.
class CustomInstance {
 public:
  explicit CustomInstance(const CustomModel* model) : model_(*model) {}
  CustomInstance(const CustomInstance&) = delete;
  CustomInstance& operator=(const CustomInstance&) = delete;
  ~CustomInstance();

  /// Has the library make the context.
  Error Load(TRITONBACKEND_ModelInstance* instance);

  /// Executes the requests together, each as a payload. Answers and releases each.
  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count);

 private:
  Error Initialize(const CustomInitializeData& data);
  void Run(backend::Batch* batch);
  Error Call(Payloads* payloads);
  Error Conclude(PayloadTensors* tensors, int code);

  const CustomModel& model_;
  void* context_ = nullptr;
  bool initialized_ = false;

  // Reused from one Execute to the next.
  std::vector<backend::BatchMember> members_;
  std::vector<PayloadTensors> tensors_;
  std::vector<size_t> runnable_;       // of tensors_: the place in the batch
  std::vector<uint64_t> batch_sizes_;  // of tensors_
};

}  // namespace nereid::custom

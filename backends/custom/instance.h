// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "custom/model.h"
#include "custom/payloads.h"
#include "nereid/backend/batch.h"

namespace nereid::custom {

/// An instance of a custom model: one context of the library. Executes on one thread at a time.
class CustomInstance {
 public:
  explicit CustomInstance(const CustomModel* model) : model_(*model) {}
  CustomInstance(const CustomInstance&) = delete;
  CustomInstance& operator=(const CustomInstance&) = delete;
  ~CustomInstance();

  /// A library may expect that it creates one context at a time.
  static constexpr bool kLoadsAlone = true;

  /// Has the library create the context. Returns the library's error.
  Error Load(TRITONBACKEND_ModelInstance* instance);

  /// Executes the requests together, each as one payload. Answers and releases every request.
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

  // Reused by each Execute.
  std::vector<backend::BatchMember> members_;
  std::vector<PayloadTensors> tensors_;
  std::vector<size_t> runnable_;       // index in the batch, for each of tensors_
  std::vector<uint64_t> batch_sizes_;  // for each of tensors_
};

}  // namespace nereid::custom

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "custom/model.h"
#include "nereid/backend/batch.h"
#include "nereid/backend/input.h"
#include "nereid/custom.h"

namespace nereid::custom {

/// The tensors of one request, as the library's callbacks see them. The library reads inputs piece
/// by piece and adds outputs. Wrong calls of the callbacks are recorded, because the library's own
/// error would hardly describe them.
class PayloadTensors {
 public:
  /// `cpu_only` is true for a library of version 1. `signature` and `member` must outlive the
  /// object.
  PayloadTensors(const CustomSignature* signature, bool cpu_only, backend::BatchMember* member)
      : signature_(signature), cpu_only_(cpu_only), member_(member) {}

  /// Finds and checks the inputs, and sets the batch size of the member.
  Error Prepare();

  const std::vector<backend::Input>& inputs() const { return inputs_; }
  /// Returns the outputs to compute: first the requested ones, then the states.
  const std::vector<const char*>& required_outputs() const { return required_; }

  bool NextInput(const char* name, const void** content, uint64_t* size, CustomMemoryType* type,
                 int64_t* type_id) noexcept;
  bool AddOutput(const char* name, std::span<const int64_t> shape, uint64_t size, void** content,
                 CustomMemoryType* type, int64_t* type_id) noexcept;

  /// Called after the execution. Checks BYTES outputs and writes the states.
  Error Finish();
  /// Returns the first wrong call of the library; success if there was none.
  Error TakeMistake() { return std::move(mistake_); }

 private:
  /// An output that the library has written.
  struct Written {
    const CustomOutput* output = nullptr;
    std::vector<int64_t> shape;
    uint64_t size = 0;
    char* content = nullptr;
    /// Set if `content` is the buffer of a state.
    TRITONBACKEND_State* state = nullptr;
  };

  Error Wrong(const std::string& text) const;
  Error GiveInput(std::string_view name, const void** content, uint64_t* size,
                  CustomMemoryType* type, int64_t* type_id);
  Error CheckOutput(const CustomOutput& output, std::span<const int64_t> shape,
                    uint64_t size) const;
  Error GiveOutput(std::string_view name, std::span<const int64_t> shape, uint64_t size,
                   void** content, CustomMemoryType* type, int64_t* type_id);
  Error AllocateAnswer(Written* written, CustomMemoryType* type, int64_t* type_id);
  bool Requested(std::string_view name) const;
  bool Note(Error error) noexcept;

  const CustomSignature* signature_;
  bool cpu_only_;
  backend::BatchMember* member_;
  std::vector<backend::Input> inputs_;
  std::vector<uint32_t> next_piece_;  // for each of inputs_
  std::vector<const char*> required_;
  size_t requested_count_ = 0;  // how many of required_ clients have requested; they come first
  std::vector<Written> written_;
  Error mistake_;
};

/// The payloads of one execution and the memory that they point to. The object must not be moved.
class Payloads {
 public:
  /// Creates a payload for each of `tensors`, which must be prepared.
  Payloads(bool batching, std::vector<PayloadTensors>* tensors,
           std::span<const uint64_t> batch_sizes);
  Payloads(const Payloads&) = delete;
  Payloads& operator=(const Payloads&) = delete;

  uint32_t size() const { return static_cast<uint32_t>(payloads_.size()); }
  CustomPayload* data() { return payloads_.data(); }
  int error_code(size_t i) const { return payloads_[i].error_code; }

 private:
  std::vector<CustomPayload> payloads_;
  std::vector<const char*> input_names_;
  std::vector<size_t> dim_counts_;
  std::vector<const int64_t*> dims_;
  std::vector<const char*> output_names_;
};

/// The callbacks. `context` is a PayloadTensors.
bool GetNextInput(void* context, const char* name, const void** content, uint64_t* size);
bool GetNextInputV2(void* context, const char* name, const void** content, uint64_t* size,
                    CustomMemoryType* memory_type, int64_t* memory_type_id);
bool GetOutput(void* context, const char* name, size_t dim_count, int64_t* dims, uint64_t size,
               void** content);
bool GetOutputV2(void* context, const char* name, size_t dim_count, int64_t* dims, uint64_t size,
                 void** content, CustomMemoryType* memory_type, int64_t* memory_type_id);

}  // namespace nereid::custom

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/blocking_workers.h"
#include "base/mutex.h"
#include "base/thread_annotations.h"
#include "memory/shared/cuda_mapping.h"
#include "memory/shared/shared_mapping.h"
#include "request/forwarding_sink.h"
#include "request/inference_response.h"
#include "request/response_queue.h"

namespace nereid::request {

/// Where an output of a request goes in shared memory.
struct OutputPlace {
  std::string name;
  char* data = nullptr;
  uint64_t byte_size = 0;
  memory::MemoryType memory_type = memory::MemoryType::kCpu;  // kCpu or kGpu
  int64_t memory_type_id = 0;
};

/// The sink of a request with tensors in shared memory. Has the outputs written to their places,
/// and keeps the regions open until the request and its responses are gone. A place in GPU memory
/// is given to a backend that prefers GPU memory; others write to host memory, from where Send
/// copies. On a thread that must not block, another one copies and sends. A response that was made
/// while a region of the request was broken becomes an error.
class RegionSink final : public ForwardingSink, public std::enable_shared_from_this<RegionSink> {
 public:
  using Mapping = std::shared_ptr<const memory::SharedMapping>;

  /// The regions of a request, which contain its shared inputs and the places of its outputs.
  struct Regions {
    std::vector<Mapping> system;
    std::vector<std::shared_ptr<const memory::CudaMapping>> cuda;
    /// Its one thread copies where the sender must not wait. Not null if `cuda` has a region. Must
    /// outlive the sink.
    base::BlockingWorkers* copying = nullptr;
  };
  RegionSink(std::shared_ptr<ResponseSink> next, Regions regions, std::vector<OutputPlace> places)
      : ForwardingSink(std::move(next)), regions_(std::move(regions)), places_(std::move(places)) {}

  void Send(std::unique_ptr<InferenceResponse> response, bool final) noexcept override;
  base::Status AllocateOutput(Output* output, size_t size) noexcept override;
  base::Status LendOutput(Output* output, LentBytes bytes) noexcept override;
  void ReleaseOutput(Output* output) noexcept override;
  base::Status QueryOutput(std::string_view name, size_t* size, memory::MemoryType* type,
                           int64_t* id) noexcept override;

 private:
  const OutputPlace* FindPlace(std::string_view output) const;
  base::Status CheckRegions() const;
  /// Returns whether FillPlaces has something to do.
  bool HasUnfilledPlaces(const InferenceResponse& response) const;
  /// Copies the outputs that are not in their places in GPU memory to them.
  base::Status FillPlaces(InferenceResponse& response);
  /// Completes the waiting responses.
  void CompleteWaiting() noexcept;
  void Complete(std::unique_ptr<InferenceResponse> response, bool final) noexcept;

  const Regions regions_;
  const std::vector<OutputPlace> places_;
  base::Mutex mutex_;
  // Responses that another thread completes, because this one must not wait for a GPU. Those that
  // follow wait behind them.
  ResponseQueue waiting_ NEREID_GUARDED_BY(mutex_);
  bool is_completing_ NEREID_GUARDED_BY(mutex_) = false;  // a thread is in CompleteWaiting, or will
};

}  // namespace nereid::request

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "memory/shared/shared_mapping.h"
#include "request/forwarding_sink.h"
#include "request/inference_response.h"

namespace nereid::request {

/// Where an output of a request goes in shared memory.
struct OutputPlace {
  std::string name;
  char* data = nullptr;
  uint64_t byte_size = 0;
};

/// The sink of a request with tensors in shared memory. Has the outputs written to their places,
/// and keeps the regions mapped until the request and its responses are gone. A response that was
/// made while a region of the request was broken becomes an error.
class RegionSink final : public ForwardingSink {
 public:
  using Mapping = std::shared_ptr<const memory::SharedMapping>;

  /// `places` are within `regions`, which also contain the shared inputs of the request.
  RegionSink(std::shared_ptr<ResponseSink> next, std::vector<Mapping> regions,
             std::vector<OutputPlace> places)
      : ForwardingSink(std::move(next)), regions_(std::move(regions)), places_(std::move(places)) {}

  void Send(std::unique_ptr<InferenceResponse> response, bool final) noexcept override;
  base::Status AllocateOutput(Output* output, size_t size) noexcept override;
  base::Status LendOutput(Output* output, char* data, size_t size,
                          std::shared_ptr<const void> owner) noexcept override;
  void ReleaseOutput(Output* output) noexcept override;
  base::Status QueryOutput(std::string_view name, size_t* size, memory::MemoryType* type,
                           int64_t* id) noexcept override;

 private:
  const OutputPlace* FindPlace(std::string_view output) const;
  base::Status CheckRegions() const;

  const std::vector<Mapping> regions_;
  const std::vector<OutputPlace> places_;
};

}  // namespace nereid::request

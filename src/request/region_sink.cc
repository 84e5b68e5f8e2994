// SPDX-License-Identifier: Apache-2.0
#include "request/region_sink.h"

#include <cstring>
#include <exception>

namespace nereid::request {
namespace {

using base::Status;

Status Occupy(const OutputPlace& place, Output* output, size_t size) {
  if (size > place.byte_size) {
    return Status::Internal("shared memory size specified with the request for output '" +
                            output->name + "' (" + std::to_string(place.byte_size) +
                            " bytes) should be at least " + std::to_string(size) +
                            " bytes to hold the results");
  }
  output->data = place.data;
  output->memory_type = memory::MemoryType::kCpu;
  output->memory_type_id = 0;
  output->in_shared_memory = true;
  return Status::Ok();
}

}  // namespace

void RegionSink::Send(std::unique_ptr<InferenceResponse> response, bool final) noexcept {
  if (response != nullptr) {
    try {
      // Also instead of an error of the model, which may have read zeros in place of its input.
      if (Status broken = CheckRegions(); !broken.ok()) response->SetError(std::move(broken));
    } catch (const std::exception&) {
      // No memory for the long text. This one takes none.
      response->SetError(Status(base::StatusCode::kInvalidArgument, "region is lost"));
    }
  }
  ForwardingSink::Send(std::move(response), final);
}

Status RegionSink::AllocateOutput(Output* output, size_t size) noexcept {
  const OutputPlace* const place = FindPlace(output->name);
  if (place == nullptr) return ForwardingSink::AllocateOutput(output, size);
  return Occupy(*place, output, size);
}

Status RegionSink::LendOutput(Output* output, char* data, size_t size,
                              std::shared_ptr<const void> owner) noexcept {
  const OutputPlace* const place = FindPlace(output->name);
  if (place == nullptr) return ForwardingSink::LendOutput(output, data, size, std::move(owner));
  NEREID_RETURN_IF_ERROR(Occupy(*place, output, size));
  // A model may pass its input on as its output, so the two may overlap.
  if (size != 0) std::memmove(output->data, data, size);
  return Status::Ok();
}

void RegionSink::ReleaseOutput(Output* output) noexcept {
  if (!output->in_shared_memory) ForwardingSink::ReleaseOutput(output);
}

Status RegionSink::QueryOutput(std::string_view name, size_t* size, memory::MemoryType* type,
                               int64_t* id) noexcept {
  if (FindPlace(name) == nullptr) return ForwardingSink::QueryOutput(name, size, type, id);
  *type = memory::MemoryType::kCpu;
  *id = 0;
  return Status::Ok();
}

const OutputPlace* RegionSink::FindPlace(std::string_view output) const {
  for (const OutputPlace& place : places_) {
    if (place.name == output) return &place;
  }
  return nullptr;
}

Status RegionSink::CheckRegions() const {
  for (const Mapping& region : regions_) NEREID_RETURN_IF_ERROR(region->CheckIntact());
  return Status::Ok();
}

}  // namespace nereid::request

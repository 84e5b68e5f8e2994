// SPDX-License-Identifier: Apache-2.0
#include "request/region_sink.h"

#include <exception>
#include <utility>

#include "base/byte_budget.h"
#include "memory/gpu/copy.h"

namespace nereid::request {
namespace {

using base::Status;

Status CheckSize(const OutputPlace& place, const Output& output, size_t size) {
  if (size <= place.byte_size) return Status::Ok();
  return Status::Internal("shared memory size specified with the request for output '" +
                          output.name + "' (" + std::to_string(place.byte_size) +
                          " bytes) should be at least " + std::to_string(size) +
                          " bytes to hold the results");
}

void Occupy(const OutputPlace& place, Output* output) {
  output->data = place.data;
  output->memory_type = place.memory_type;
  output->memory_type_id = place.memory_type_id;
  output->in_shared_memory = true;
}

/// Returns whether a backend that prefers `preferred` writes to the place itself.
bool IsWrittenDirectly(const OutputPlace& place, memory::MemoryType preferred) {
  return place.memory_type != memory::MemoryType::kGpu || preferred == memory::MemoryType::kGpu;
}

}  // namespace

void RegionSink::Send(std::unique_ptr<InferenceResponse> response, bool final) noexcept {
  if (regions_.copying == nullptr) return Complete(std::move(response), final);
  const bool must_wait =
      !base::ThreadMayBlock() && response != nullptr && HasUnfilledPlaces(*response);
  {
    base::MutexLock lock(mutex_);
    if (!is_completing_ && !must_wait) {
      lock.Unlock();
      return Complete(std::move(response), final);
    }
    waiting_.Push({std::move(response), final});
    if (std::exchange(is_completing_, true)) return;
  }
  bool is_elsewhere = false;
  try {
    is_elsewhere = regions_.copying->Run([self = shared_from_this()] { self->CompleteWaiting(); });
  } catch (const std::exception&) {
    // No memory for the task: the copy is done here.
  }
  if (!is_elsewhere) CompleteWaiting();
}

void RegionSink::CompleteWaiting() noexcept {
  base::MutexLock lock(mutex_);
  while (!waiting_.empty()) {
    ResponseQueue::Event event = waiting_.Pop();
    lock.Unlock();
    Complete(std::move(event.response), event.final);
    lock.Lock();
  }
  is_completing_ = false;
}

void RegionSink::Complete(std::unique_ptr<InferenceResponse> response, bool final) noexcept {
  if (response != nullptr) {
    try {
      if (response->error().ok()) {
        if (Status failed = FillPlaces(*response); !failed.ok()) {
          response->SetError(std::move(failed));
        }
      }
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
  NEREID_RETURN_IF_ERROR(CheckSize(*place, *output, size));
  // Plain host memory, which FillPlaces copies.
  if (!IsWrittenDirectly(*place, output->memory_type)) {
    return ResponseSink::AllocateOutput(output, size);
  }
  Occupy(*place, output);
  return Status::Ok();
}

Status RegionSink::LendOutput(Output* output, LentBytes bytes) noexcept {
  const OutputPlace* const place = FindPlace(output->name);
  if (place == nullptr) return ForwardingSink::LendOutput(output, std::move(bytes));
  NEREID_RETURN_IF_ERROR(CheckSize(*place, *output, bytes.size));
  if (place->memory_type == memory::MemoryType::kGpu) {
    // FillPlaces copies them.
    output->data = bytes.data;
    output->memory_type = bytes.memory_type;
    output->memory_type_id = bytes.memory_type_id;
    output->lender = std::move(bytes.owner);
    return Status::Ok();
  }
  Occupy(*place, output);
  // A model may pass its input on as its output, so the two may overlap.
  return memory::CopyBytes({place->data}, {bytes.data, bytes.memory_type, bytes.memory_type_id},
                           bytes.size);
}

void RegionSink::ReleaseOutput(Output* output) noexcept {
  if (FindPlace(output->name) == nullptr) return ForwardingSink::ReleaseOutput(output);
  if (!output->in_shared_memory) ResponseSink::ReleaseOutput(output);
}

Status RegionSink::QueryOutput(std::string_view name, size_t* size, memory::MemoryType* type,
                               int64_t* id) noexcept {
  const OutputPlace* const place = FindPlace(name);
  if (place == nullptr) return ForwardingSink::QueryOutput(name, size, type, id);
  const bool on_gpu =
      place->memory_type == memory::MemoryType::kGpu && *type == memory::MemoryType::kGpu;
  *type = on_gpu ? memory::MemoryType::kGpu : memory::MemoryType::kCpu;
  *id = on_gpu ? place->memory_type_id : 0;
  return Status::Ok();
}

const OutputPlace* RegionSink::FindPlace(std::string_view output) const {
  for (const OutputPlace& place : places_) {
    if (place.name == output) return &place;
  }
  return nullptr;
}

Status RegionSink::CheckRegions() const {
  for (const Mapping& region : regions_.system) NEREID_RETURN_IF_ERROR(region->CheckIntact());
  return Status::Ok();
}

bool RegionSink::HasUnfilledPlaces(const InferenceResponse& response) const {
  for (const auto& output : response.outputs()) {
    if (output->allocated && !output->in_shared_memory && FindPlace(output->name) != nullptr) {
      return true;
    }
  }
  return false;
}

Status RegionSink::FillPlaces(InferenceResponse& response) {
  if (regions_.cuda.empty() || !HasUnfilledPlaces(response)) return Status::Ok();
  memory::CopyBatch batch;
  std::vector<std::pair<const OutputPlace*, Output*>> filled;
  for (const auto& output : response.outputs()) {
    if (!output->allocated || output->in_shared_memory) continue;
    const OutputPlace* const place = FindPlace(output->name);
    if (place == nullptr) continue;
    filled.emplace_back(place, output.get());
    NEREID_RETURN_IF_ERROR(batch
                               .Add({place->data, place->memory_type, place->memory_type_id},
                                    {output->data, output->memory_type, output->memory_type_id},
                                    output->size)
                               .WithPrefix("output '" + output->name + "': "));
  }
  NEREID_RETURN_IF_ERROR(batch.Wait());
  for (const auto& [place, output] : filled) {
    ResponseSink::ReleaseOutput(output);
    Occupy(*place, output);
  }
  return Status::Ok();
}

}  // namespace nereid::request

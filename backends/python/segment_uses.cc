// SPDX-License-Identifier: Apache-2.0
#include "python/segment_uses.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "nereid/backend/output.h"

namespace nereid::python {

using backend::Error;

namespace {

/// Smaller tensors are copied, so that the worker has its segment again soon.
constexpr uint64_t kMinLent = uint64_t{64} << 10;

}  // namespace

/// Keeps a segment for responses. Its end tells the worker that the segment is read. A block of the
/// arena is kept by its owner alone: the worker need not keep it.
class SegmentUses::Loan {
 public:
  /// `counted` are the bytes that ReadSegments::Lend has counted.
  Loan(std::shared_ptr<ReadSegments> read, uint32_t id, SegmentMemory memory, uint64_t counted)
      : read_(std::move(read)), id_(id), memory_(std::move(memory)), counted_(counted) {}
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan() {
    read_->EndLoan(counted_);
    if (!memory_.is_block) {
      // Without memory for the note, the worker lacks one segment.
      const Error noted = backend::Catching([this]() -> Error {
        read_->Add(id_);
        return {};
      });
    }
  }

 private:
  const std::shared_ptr<ReadSegments> read_;
  const uint32_t id_;
  const SegmentMemory memory_;
  const uint64_t counted_;
};

SegmentUses::~SegmentUses() {
  for (const Use& use : uses_) {
    if (use.loan == nullptr || use.memory.is_block) {
      const Error noted = backend::Catching([this, &use]() -> Error {
        segments_.read->Add(use.id);
        return {};
      });
    }
  }
}

void SegmentUses::Add(const std::vector<WireTensor>& tensors) {
  for (const WireTensor& tensor : tensors) {
    if (tensor.segment != 0 && Find(tensor.segment) == nullptr) {
      uses_.push_back({tensor.segment, segments_.Find(tensor.segment), nullptr});
    }
  }
}

const SegmentUses::Use* SegmentUses::Find(uint32_t id) const {
  const auto found =
      std::find_if(uses_.begin(), uses_.end(), [id](const Use& use) { return use.id == id; });
  return found == uses_.end() ? nullptr : &*found;
}

const char* SegmentUses::ContentIn(const Use* use, const WireTensor& tensor) {
  if (use == nullptr || !use->memory || tensor.offset > use->memory.size ||
      tensor.size > use->memory.size - tensor.offset) {
    return nullptr;
  }
  return use->memory.data + tensor.offset;
}

Error SegmentUses::Find(const WireTensor& tensor, TensorContent* content) const {
  *content = {};
  if (tensor.size == 0) {
    return {};
  }
  if (tensor.segment == 0) {
    Bytes bytes;
    if (!FindInline(tensor, data_, &bytes)) {
      return Error::Internal("tensor '" + std::string(tensor.name) +
                             "' ends beyond the message of the Python model");
    }
    content->data = bytes.data();
    return {};
  }
  const Use* use = Find(tensor.segment);
  content->data = ContentIn(use, tensor);
  if (content->data == nullptr) {
    return Error::Internal("tensor '" + std::string(tensor.name) +
                           "' is not in the shared memory of the Python model");
  }
  content->gpu = use->memory.gpu;
  if (content->gpu >= 0 && tensor.data_type == TRITONSERVER_TYPE_BYTES) {
    return Error::Internal("tensor '" + std::string(tensor.name) +
                           "' of the Python model is BYTES, which cannot be in GPU memory");
  }
  return {};
}

Error SegmentUses::Check(const WireTensor& tensor) const {
  TensorContent content;
  return Find(tensor, &content);
}

int SegmentUses::GpuOf(const WireTensor& tensor) const {
  const Use* use = tensor.segment == 0 ? nullptr : Find(tensor.segment);
  return use == nullptr ? -1 : use->memory.gpu;
}

Error SegmentUses::Copy(const WireTensor& tensor, Place out) {
  TensorContent content;
  NEREID_BACKEND_TRY(Find(tensor, &content));
  return copies_.Add(out, content.data, content.gpu, tensor.size);
}

bool SegmentUses::Lend(Use* use, bool is_limited) {
  if (use->loan != nullptr) {
    return true;
  }
  const uint64_t counted = is_limited ? use->memory.size : 0;
  if (is_limited && !segments_.read->Lend(counted)) {
    return false;
  }
  use->loan = std::make_shared<const Loan>(segments_.read, use->id, use->memory, counted);
  return true;
}

Error SegmentUses::LendOnGpu(const WireTensor& tensor, TensorContent* content) {
  NEREID_BACKEND_TRY(Find(tensor, content));
  auto* use = const_cast<Use*>(Find(tensor.segment));
  Lend(use, /*is_limited=*/false);
  content->owner = use->loan;
  return {};
}

bool SegmentUses::Lend(const WireTensor& tensor, TensorContent* content) {
  const bool is_input = (tensor.segment & kWorkerSegment) == 0;
  if (!backend::CanLendOutputs() || tensor.segment == 0 || tensor.size < kMinLent ||
      tensor.data_type == TRITONSERVER_TYPE_BYTES || (is_input && !may_lend_inputs_)) {
    return false;
  }
  auto* use = const_cast<Use*>(Find(tensor.segment));
  content->data = ContentIn(use, tensor);
  if (content->data == nullptr || use->memory.gpu >= 0 || !Lend(use, /*is_limited=*/true)) {
    return false;
  }
  content->owner = use->loan;
  return true;
}

}  // namespace nereid::python

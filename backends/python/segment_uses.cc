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
  Loan(std::shared_ptr<ReadSegments> read, uint32_t id, SegmentMemory memory)
      : read_(std::move(read)), id_(id), memory_(std::move(memory)) {}
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan() {
    read_->EndLoan(memory_.size);
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

Error SegmentUses::Find(const WireTensor& tensor, Bytes* content) const {
  if (tensor.size == 0) {
    *content = {};
    return {};
  }
  if (tensor.segment == 0) {
    return FindInline(tensor, data_, content)
               ? Error()
               : Error::InvalidArgument("tensor '" + std::string(tensor.name) +
                                        "' ends beyond the message of the Python model");
  }
  const char* data = ContentIn(Find(tensor.segment), tensor);
  if (data == nullptr) {
    return Error::InvalidArgument("tensor '" + std::string(tensor.name) +
                                  "' is not in the shared memory of the Python model");
  }
  *content = Bytes(data, tensor.size);
  return {};
}

Error SegmentUses::Check(const WireTensor& tensor) const {
  Bytes content;
  return Find(tensor, &content);
}

Error SegmentUses::Copy(const WireTensor& tensor, char* out) const {
  Bytes content;
  NEREID_BACKEND_TRY(Find(tensor, &content));
  if (!content.empty()) {
    std::memcpy(out, content.data(), content.size());
  }
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
  if (content->data == nullptr) {
    return false;
  }
  if (use->loan == nullptr) {
    if (!segments_.read->Lend(use->memory.size)) {
      return false;
    }
    use->loan = std::make_shared<const Loan>(segments_.read, use->id, use->memory);
  }
  content->owner = use->loan;
  return true;
}

}  // namespace nereid::python

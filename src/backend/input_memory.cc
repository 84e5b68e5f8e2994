// SPDX-License-Identifier: Apache-2.0
#include "backend/input_memory.h"

#include <memory>
#include <utility>

namespace nereid::backend {
namespace {

class InputMemory final : public memory::BufferLender {
 public:
  InputMemory(std::shared_ptr<Backend> backend, void* memory)
      : backend_(std::move(backend)), memory_(memory) {}
  ~InputMemory() override { backend_->entry_points().free_input_memory(memory_); }

  size_t Prepare(size_t begin, size_t end) noexcept override {
    return backend_->entry_points().prepare_input_memory(memory_, begin, end);
  }

 private:
  const std::shared_ptr<Backend> backend_;
  void* const memory_;
};

}  // namespace

memory::HostBuffer TakeInputMemory(BackendModel& model, size_t size) {
  const BackendEntryPoints& entry = model.backend().entry_points();
  if (entry.take_input_memory == nullptr || entry.prepare_input_memory == nullptr ||
      entry.free_input_memory == nullptr) {
    return {};
  }
  void* base = nullptr;
  void* memory = nullptr;
  if (!entry.take_input_memory(model.handle(), size, &base, &memory)) return {};
  return memory::HostBuffer::Borrow(static_cast<char*>(base), size,
                                    std::make_unique<InputMemory>(model.shared_backend(), memory));
}

}  // namespace nereid::backend

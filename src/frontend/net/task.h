// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <type_traits>
#include <utility>

namespace nereid::frontend::net {

/// Work for an event loop. A task is a member of the object for which it works (a connection, a
/// response), so that posting it takes no memory and cannot fail. It is in one list at a time;
/// posting it again before it has run has no effect. It must not be destroyed while it waits; the
/// owner that Claim() gets prevents that.
class Task {
 public:
  Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  /// Prepares the task for a list. `owner` keeps the object alive until the task has run or was
  /// dropped. Returns false if the task already waits. May be called on any thread.
  bool Claim(std::shared_ptr<void> owner) noexcept {
    if (queued_.exchange(true, std::memory_order_acq_rel)) return false;
    owner_ = std::move(owner);
    return true;
  }

  // Called by the list, which has removed the task.
  void RunNow() noexcept {
    const std::shared_ptr<void> owner = Release();
    Run();
  }
  void DropNow() noexcept {
    const std::shared_ptr<void> owner = Release();
    Drop();
  }

  Task* next = nullptr;  // for the list

 protected:
  ~Task() = default;

 private:
  /// Does the work on the loop's thread. The task may be posted again during the call.
  virtual void Run() noexcept = 0;
  /// Called instead of Run() if the loop has ended. On any thread.
  virtual void Drop() noexcept {}

  // From here on another thread may claim the task. The exchange, not a store, lets Run() see all
  // that a thread did before its Claim() returned false.
  std::shared_ptr<void> Release() noexcept {
    std::shared_ptr<void> owner = std::move(owner_);
    queued_.exchange(false, std::memory_order_acq_rel);
    return owner;
  }

  std::atomic<bool> queued_{false};
  std::shared_ptr<void> owner_;
};

/// A task that calls methods of the object whose member it is. The second method, if there is one,
/// is called if the task is dropped. (kDrop has no fixed type, because GCC with the
/// undefined-behavior sanitizer does not compare a pointer to a member with null in a constant
/// expression.)
template <typename Object, void (Object::*kRun)(), auto kDrop = nullptr>
class MemberTask final : public Task {
 public:
  explicit MemberTask(Object& object) : object_(object) {}

 private:
  void Run() noexcept override { (object_.*kRun)(); }
  void Drop() noexcept override {
    if constexpr (!std::is_null_pointer_v<decltype(kDrop)>) (object_.*kDrop)();
  }

  Object& object_;
};

/// Claimed tasks in their order. Not thread-safe.
class TaskList {
 public:
  TaskList() = default;
  TaskList(const TaskList&) = delete;
  TaskList& operator=(const TaskList&) = delete;

  bool empty() const { return first_ == nullptr; }

  void PushBack(Task& task) noexcept {
    task.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &task;
    last_ = &task;
  }

  void PushFront(Task& task) noexcept {
    task.next = first_;
    if (first_ == nullptr) last_ = &task;
    first_ = &task;
  }

  /// Removes and returns the first task. The list must not be empty.
  Task& PopFront() noexcept {
    Task& task = *first_;
    first_ = task.next;
    return task;
  }

 private:
  Task* first_ = nullptr;
  Task* last_ = nullptr;  // valid while the list is not empty
};

}  // namespace nereid::frontend::net

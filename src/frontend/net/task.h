// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace nereid::frontend::net {

/// Work for an event loop. A task is a member of the object that it is for (a connection, an
/// answer), so that handing it to the loop takes no memory and cannot fail. It waits in one list at
/// a time; handing it over again before it has run changes nothing. It must not be destroyed while
/// it waits, which the owner that Claim() takes sees to.
class Task {
 public:
  Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  /// Prepares the task for a list: `owner` keeps the object alive until the task has run or was
  /// dropped. Returns false if the task waits already. Any thread.
  bool Claim(std::shared_ptr<void> owner) noexcept {
    if (queued_.exchange(true, std::memory_order_acq_rel)) return false;
    owner_ = std::move(owner);
    return true;
  }

  // By the list that held the task, which has removed it.
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
  /// Does the work, on the loop's thread. The task may be handed over again from here on.
  virtual void Run() noexcept = 0;
  /// Gives the work up: the loop has ended. Any thread.
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

/// A task that calls methods of the object that it is a member of; the second one, if there is one,
/// where the task is dropped.
template <typename Object, void (Object::*kRun)(), void (Object::*kDrop)() = nullptr>
class MemberTask final : public Task {
 public:
  explicit MemberTask(Object& object) : object_(object) {}

 private:
  void Run() noexcept override { (object_.*kRun)(); }
  void Drop() noexcept override {
    if constexpr (kDrop != nullptr) (object_.*kDrop)();
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

  /// The list must not be empty.
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

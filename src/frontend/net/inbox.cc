// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/inbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

namespace nereid::frontend::net {
namespace {

class ClosedMark final : public Task {
  void Run() noexcept override {}
};

Task* Closed() {
  static ClosedMark mark;
  return &mark;
}

/// Reverses the list that Post() has built, which begins with the newest task.
void AppendInOrder(Task* newest, TaskList* tasks) {
  TaskList in_order;
  while (newest != nullptr) {
    Task* const before = newest->next;
    in_order.PushFront(*newest);
    newest = before;
  }
  while (!in_order.empty()) tasks->PushBack(in_order.PopFront());
}

}  // namespace

base::Result<std::shared_ptr<Inbox>> Inbox::Make() {
  const int wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (wake < 0) {
    return base::Status::Unavailable("cannot make the eventfd of an event loop: " +
                                     std::generic_category().message(errno));
  }
  return std::shared_ptr<Inbox>(new Inbox(wake));
}

Inbox::~Inbox() {
  Close();
  close(wake_);
}

// Either this thread sees that the loop is armed, or the loop sees the task in Arm(): each thread
// writes its own variable before it reads the other's, and all four accesses have one order
// (seq_cst).
void Inbox::Post(Task& task, std::shared_ptr<void> owner) noexcept {
  if (!task.Claim(std::move(owner))) return;
  Task* newest = newest_.load(std::memory_order_relaxed);
  do {
    if (newest == Closed()) return task.DropNow();
    task.next = newest;
  } while (!newest_.compare_exchange_weak(newest, &task, std::memory_order_seq_cst,
                                          std::memory_order_relaxed));
  if (armed_.load(std::memory_order_seq_cst) && armed_.exchange(false)) Wake();
}

void Inbox::Wake() noexcept {
  const uint64_t one = 1;
  // Fails only at 2^64 - 1, when the descriptor is readable anyway.
  (void)!write(wake_, &one, sizeof(one));
}

bool Inbox::Arm() noexcept {
  armed_.store(true, std::memory_order_seq_cst);
  if (newest_.load(std::memory_order_seq_cst) == nullptr) return true;
  Disarm();
  return false;
}

void Inbox::Take(TaskList* tasks) noexcept {
  if (newest_.load(std::memory_order_relaxed) == nullptr) return;
  Task* const newest = newest_.load(std::memory_order_relaxed) == Closed()
                           ? nullptr
                           : newest_.exchange(nullptr, std::memory_order_acquire);
  AppendInOrder(newest, tasks);
}

void Inbox::Close() noexcept {
  Task* const newest = newest_.exchange(Closed(), std::memory_order_acq_rel);
  if (newest == Closed()) return;
  TaskList tasks;
  AppendInOrder(newest, &tasks);
  while (!tasks.empty()) tasks.PopFront().DropNow();
}

}  // namespace nereid::frontend::net

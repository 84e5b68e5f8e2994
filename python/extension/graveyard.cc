// SPDX-License-Identifier: Apache-2.0
#include "python/extension/graveyard.h"

#include <atomic>

#include "base/mutex.h"

namespace nereid::python {
namespace {

struct Graveyard {
  base::Mutex mutex;
  std::vector<PyObject*> references NEREID_GUARDED_BY(mutex);
  std::vector<TRITONSERVER_Server*> servers NEREID_GUARDED_BY(mutex);
  std::atomic<bool> is_empty{true};    // read without the mutex, as a quick look
  std::atomic<bool> requested{false};  // Python's main thread has been asked
};

Graveyard& TheGraveyard() {
  static auto& graveyard = *new Graveyard;  // threads of the engine may outlive static objects
  return graveyard;
}

}  // namespace

void Bury(std::vector<PyObject*> references) noexcept {
  if (references.empty()) return;
  Graveyard& graveyard = TheGraveyard();
  const base::MutexLock lock(graveyard.mutex);
  graveyard.references.insert(graveyard.references.end(), references.begin(), references.end());
  graveyard.is_empty.store(false, std::memory_order_release);
}

void BuryServer(TRITONSERVER_Server* server) noexcept {
  Graveyard& graveyard = TheGraveyard();
  const base::MutexLock lock(graveyard.mutex);
  graveyard.servers.push_back(server);
  graveyard.is_empty.store(false, std::memory_order_release);
}

void RequestBurial() {
  Graveyard& graveyard = TheGraveyard();
  if (graveyard.is_empty.load(std::memory_order_acquire)) return;
  if (graveyard.requested.exchange(true) || Py_IsInitialized() == 0) return;
  const auto drop = [](void*) {
    TheGraveyard().requested.store(false);
    DropBuried();
    return 0;
  };
  // Python's list of pending calls may be full. The next call of the extension drops then.
  if (Py_AddPendingCall(drop, nullptr) != 0) graveyard.requested.store(false);
}

void DropBuried() {
  Graveyard& graveyard = TheGraveyard();
  if (graveyard.is_empty.load(std::memory_order_acquire)) return;
  std::vector<PyObject*> references;
  std::vector<TRITONSERVER_Server*> servers;
  {
    const base::MutexLock lock(graveyard.mutex);
    references.swap(graveyard.references);
    servers.swap(graveyard.servers);
    graveyard.is_empty.store(true, std::memory_order_release);
  }
  // Without the mutex: a destructor in Python may call the extension.
  for (PyObject* const reference : references) Py_DECREF(reference);
  if (servers.empty()) return;
  const GilRelease release;
  for (TRITONSERVER_Server* const server : servers) {
    TRITONSERVER_ErrorDelete(TRITONSERVER_ServerDelete(server));
  }
}

}  // namespace nereid::python

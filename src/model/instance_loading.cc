// SPDX-License-Identifier: Apache-2.0
#include "model/instance_loading.h"

#include <atomic>

#include "base/background.h"
#include "base/cpus.h"
#include "base/parallel.h"

namespace nereid::model {
namespace {

/// More instances of one model are not initialized at once: each may take the memory of a process.
constexpr size_t kMaxAtOnce = 16;

base::Status InitializeOne(ModelInstance& instance, size_t position,
                           const std::function<base::Status(size_t)>& check) {
  NEREID_RETURN_IF_ERROR(check(position));
  // For the threads that the framework starts for this instance.
  const base::ScopedPlacement placed(instance.placement());
  NEREID_RETURN_IF_ERROR(instance.Initialize());
  return check(position);
}

}  // namespace

base::Status InitializeInstances(const std::vector<InstancePtr>& instances, bool at_once,
                                 const std::function<base::Status(size_t)>& check) {
  std::vector<base::Status> results(instances.size());
  std::atomic<bool> failed{false};
  base::ForEachOnThreads("model-instance", at_once ? kMaxAtOnce : 1, instances.size(),
                         [&](size_t i) {
                           if (failed) return;
                           const base::ScopedBackground background;
                           try {
                             results[i] = InitializeOne(*instances[i], i, check);
                             if (!results[i].ok()) failed = true;
                           } catch (...) {
                             failed = true;
                             throw;
                           }
                         });
  for (base::Status& result : results) NEREID_RETURN_IF_ERROR(std::move(result));
  return base::Status::Ok();
}

}  // namespace nereid::model

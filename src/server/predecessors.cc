// SPDX-License-Identifier: Apache-2.0
#include "server/predecessors.h"

#include <algorithm>
#include <utility>

namespace nereid::server {
namespace {

bool Has(const std::vector<Predecessors::Version>& versions, const Predecessors::Version& wanted) {
  return std::any_of(
      versions.begin(), versions.end(),
      [&wanted](const Predecessors::Version& version) { return version.served == wanted.served; });
}

}  // namespace

Predecessors::Versions Predecessors::List() const {
  base::MutexLock lock(mutex_);
  return versions_;
}

void Predecessors::Exchange(Versions* versions) {
  versions_.swap(*versions);
  count_.store(versions_.size(), std::memory_order_release);
}

void Predecessors::Add(Versions replaced) {
  Versions too_many;
  {
    base::MutexLock lock(mutex_);
    for (const Version& known : versions_) {
      if (!Has(replaced, known)) replaced.push_back(known);
    }
    if (replaced.size() > kMax) {
      too_many.assign(replaced.begin() + kMax, replaced.end());
      replaced.resize(kMax);
    }
    Exchange(&replaced);
  }
  for (const Version& version : too_many) version.model->EndIdleSequences();
}

std::shared_ptr<ServedModel> Predecessors::FindOwner(const request::CorrelationId& id,
                                                     int64_t version) const {
  for (Version& known : List()) {
    const bool is_reached = version < 0 || version == known.model->identity().version;
    if (is_reached && known.model->HasSequence(id)) return std::move(known.served);
  }
  return nullptr;
}

bool Predecessors::DropFinished() {
  Versions finished = List();
  std::erase_if(finished,
                [](const Version& version) { return version.model->ListSequences(0).total != 0; });
  // Destroyed, with what is dropped, after the lock is released.
  Versions kept;
  base::MutexLock lock(mutex_);
  // The list may be another one by now. Only the versions that were found finished leave it.
  for (const Version& version : versions_) {
    if (!Has(finished, version)) kept.push_back(version);
  }
  Exchange(&kept);
  return !versions_.empty();
}

void Predecessors::DropAll() {
  Versions dropped;
  {
    base::MutexLock lock(mutex_);
    Exchange(&dropped);
  }
  for (const Version& version : dropped) version.model->EndIdleSequences();
}

}  // namespace nereid::server

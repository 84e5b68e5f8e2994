// SPDX-License-Identifier: Apache-2.0
#include "model/cpu/machine_load.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nereid::model {

void MeanRunning::Advance(int running, uint64_t now_ns) {
  if (now_ns <= last_ns_) return;
  const double kept = std::exp(-static_cast<double>(now_ns - last_ns_) / kDecayNs);
  mean_ = kept * mean_ + (1 - kept) * running;
  last_ns_ = now_ns;
}

int FairThreads(int cpus, int running, int busy, double mean) {
  const int sharers = std::max(running + 1, static_cast<int>(std::lround(mean)));
  const int share = cpus / std::max(1, sharers);
  return std::max(1, std::min(share, cpus - busy));
}

int MachineLoad::Permitted(uint64_t now_ns) {
  const base::MutexLock lock(mutex_);
  mean_.Advance(running_, now_ns);
  return FairThreads(cpus_, running_, busy_, mean_.value());
}

MachineLoad::Turn MachineLoad::Begin(int threads, uint64_t now_ns) {
  const base::MutexLock lock(mutex_);
  mean_.Advance(running_, now_ns);
  ++running_;
  busy_ += threads;
  const bool crowded = busy_ > cpus_;
  if (crowded) ++crowdings_;
  return {threads, crowded, crowdings_};
}

bool MachineLoad::End(const Turn& turn, uint64_t now_ns) {
  const base::MutexLock lock(mutex_);
  mean_.Advance(running_, now_ns);
  --running_;
  busy_ -= turn.threads;
  return !turn.crowded && turn.crowdings == crowdings_;
}

bool MachineLoad::BeginPreparation() {
  const base::MutexLock lock(mutex_);
  return !std::exchange(preparing_, true);
}

void MachineLoad::EndPreparation() {
  const base::MutexLock lock(mutex_);
  preparing_ = false;
}

}  // namespace nereid::model

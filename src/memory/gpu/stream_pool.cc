// SPDX-License-Identifier: Apache-2.0
#include "memory/gpu/stream_pool.h"

#include <map>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace nereid::memory {
namespace {

/// The most streams of a GPU that are kept.
constexpr size_t kMaxKept = 16;

struct Kept {
  base::Mutex mutex;
  std::map<int, std::vector<device::Stream>> by_gpu NEREID_GUARDED_BY(mutex);
};

Kept& TheKept() {
  static auto* const kept = new Kept;  // the driver may be gone when static objects are destroyed
  return *kept;
}

}  // namespace

base::Result<device::Stream> TakeStream(int gpu) {
  Kept& kept = TheKept();
  {
    const base::MutexLock lock(kept.mutex);
    std::vector<device::Stream>& streams = kept.by_gpu[gpu];
    if (!streams.empty()) {
      device::Stream stream = std::move(streams.back());
      streams.pop_back();
      return stream;
    }
  }
  return device::Stream::Create(gpu);
}

void ReturnStream(device::Stream stream) {
  Kept& kept = TheKept();
  const base::MutexLock lock(kept.mutex);
  std::vector<device::Stream>& streams = kept.by_gpu[stream.ordinal()];
  if (streams.size() < kMaxKept) streams.push_back(std::move(stream));
}

}  // namespace nereid::memory

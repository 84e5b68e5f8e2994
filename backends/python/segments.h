// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "nereid/backend/error.h"
#include "python/copies.h"
#include "python/input_arena.h"
#include "python/messages.h"
#include "python/shared_memory.h"

namespace nereid::python {

/// A segment that the caller of SegmentPool::Take may write until it passes it to the worker, or a
/// block of the arena with inputs that the server has received.
struct TakenSegment {
  uint32_t id = 0;
  /// One of the two.
  std::shared_ptr<SharedMemory> memory;
  std::shared_ptr<InputBlock> block;
  /// Whether the worker knows the segment. The caller announces it otherwise, on the socket on
  /// which it then passes it.
  bool announced = false;
  /// Of a block: the segment that is the whole arena, and whether the worker knows that.
  uint32_t arena = 0;
  bool arena_announced = false;
};

/// Memory of a segment, which stays what it is as long as `owner`.
struct SegmentMemory {
  const char* data = nullptr;
  uint64_t size = 0;
  /// The ordinal of the GPU whose memory it is; -1 for host memory.
  int gpu = -1;
  std::shared_ptr<const void> owner;
  /// Whether the owner also keeps the server from using the memory for something else.
  bool is_block = false;

  explicit operator bool() const { return data != nullptr; }
};

/// The segments of shared memory in which the server passes tensors to one worker. A segment holds
/// the tensors of one message. It belongs to the worker until it says that none of its objects
/// refers to it any more; then the segment is used again. A block of the arena is a segment, too,
/// which the pool keeps as long as the worker has it. Thread-safe.
class SegmentPool {
 public:
  /// Free segments above this sum of bytes are given back to the system.
  static constexpr uint64_t kKept = uint64_t{64} << 20;

  /// `limit` is the largest sum of the segments in bytes.
  explicit SegmentPool(uint64_t limit) : limit_(limit) {}

  /// Takes a segment of at least `size` bytes, in host memory or in that of a GPU. UNAVAILABLE if
  /// the limit or the memory of the system or of the GPU is reached.
  backend::Error Take(uint64_t size, TakenSegment* taken, int gpu = -1) NEREID_EXCLUDES(mutex_);

  /// Takes a block of the worker's arena. Returns false if the worker has the block already, or if
  /// the limit is reached: the caller then copies the inputs. The calls are in the order in which
  /// the blocks are passed.
  bool TakeBlock(std::shared_ptr<InputBlock> block, TakenSegment* taken) NEREID_EXCLUDES(mutex_);

  /// Takes a segment back that was not passed to the worker.
  void Return(const TakenSegment& taken) NEREID_EXCLUDES(mutex_);

  /// Makes a segment available again that the worker has released. Returns false if it is not in
  /// use.
  bool Free(uint32_t id) NEREID_EXCLUDES(mutex_);

  /// Returns the memory of a segment that is in use; without data if there is none.
  SegmentMemory Find(uint32_t id) NEREID_EXCLUDES(mutex_);

  /// Returns the ids of the segments that were given back to the system since the last call, which
  /// the worker must forget too.
  std::vector<uint32_t> TakeDropped() NEREID_EXCLUDES(mutex_);
  bool HasDropped() const { return has_dropped_.load(std::memory_order_relaxed); }

  uint64_t used_bytes() NEREID_EXCLUDES(mutex_);

 private:
  struct Segment {
    /// Null for blocks.
    std::shared_ptr<SharedMemory> memory;
    /// Of a block that is in use.
    std::shared_ptr<InputBlock> block;
    bool in_use = false;
    bool announced = false;
  };

  const uint64_t limit_;
  base::Mutex mutex_;
  std::unordered_map<uint32_t, Segment> segments_ NEREID_GUARDED_BY(mutex_);
  /// The segments that are blocks, by their offset in the arena.
  std::unordered_map<uint64_t, uint32_t> blocks_ NEREID_GUARDED_BY(mutex_);
  /// The segment that is the arena; 0 until the first block is taken.
  uint32_t arena_ NEREID_GUARDED_BY(mutex_) = 0;
  /// The free segments by their GPU and their size.
  std::multimap<std::pair<int, uint64_t>, uint32_t> free_ NEREID_GUARDED_BY(mutex_);
  std::vector<uint32_t> dropped_ NEREID_GUARDED_BY(mutex_);
  /// Whether dropped_ has elements: read for each message, without the lock.
  std::atomic<bool> has_dropped_{false};
  uint64_t total_bytes_ NEREID_GUARDED_BY(mutex_) = 0;
  uint64_t free_bytes_ NEREID_GUARDED_BY(mutex_) = 0;
  uint32_t next_id_ NEREID_GUARDED_BY(mutex_) = 1;
};

/// The segments that one worker has announced, which the server reads. Thread-safe.
class WorkerSegments {
 public:
  explicit WorkerSegments(uint64_t limit) : limit_(limit) {}

  /// Adds a segment, in host memory unless `gpu` names a GPU. `size` 0 removes the one with this id
  /// instead. Memory of a GPU that the driver does not open is not an error: the tensors in it are
  /// refused, with the driver's words in the log.
  backend::Error Announce(uint32_t id, uint64_t size, base::UniqueFd file, int gpu = -1)
      NEREID_EXCLUDES(mutex_);

  /// Returns the memory of a segment; without data if there is none.
  SegmentMemory Find(uint32_t id) NEREID_EXCLUDES(mutex_);

 private:
  static constexpr size_t kMaxSegments = 4096;

  const uint64_t limit_;
  base::Mutex mutex_;
  std::unordered_map<uint32_t, std::shared_ptr<SharedMemory>> segments_ NEREID_GUARDED_BY(mutex_);
  uint64_t total_bytes_ NEREID_GUARDED_BY(mutex_) = 0;
};

/// The smallest segment in host memory.
inline constexpr uint64_t kLeastSegment = uint64_t{64} << 10;
/// The smallest segment in GPU memory, which is allocated in units of this size.
inline constexpr uint64_t kLeastGpuSegment = uint64_t{2} << 20;
/// Returns the size of the segment that is made for `size` bytes: at most an eighth larger (and at
/// least `least`), so that segments fit tensors of slightly different sizes. 0 on overflow.
uint64_t SegmentSize(uint64_t size, uint64_t least = kLeastSegment);

/// What the server has read of the segments that messages of one worker have named, for the headers
/// of the next messages: the worker uses its own segments again, and stops keeping those of the
/// server. Thread-safe; responses that refer to segments may outlive the worker.
class ReadSegments {
 public:
  /// The most bytes of segments that responses refer to, and that the worker cannot use meanwhile:
  /// clients decide how long.
  static constexpr uint64_t kMaxLent = uint64_t{256} << 20;

  explicit ReadSegments(uint64_t limit) : max_lent_(std::min(limit / 4, kMaxLent)) {}

  void Add(uint32_t id) NEREID_EXCLUDES(mutex_);
  std::vector<uint32_t> Take() NEREID_EXCLUDES(mutex_);

  /// Counts bytes that a response refers to. Returns false if there are too many.
  bool Lend(uint64_t size);
  void EndLoan(uint64_t size) { lent_ -= size; }

 private:
  const uint64_t max_lent_;
  std::atomic<uint64_t> lent_{0};
  base::Mutex mutex_;
  std::vector<uint32_t> ids_ NEREID_GUARDED_BY(mutex_);
};

/// Both sides' segments of one worker.
struct Segments {
  explicit Segments(uint64_t limit)
      : pool(limit), worker(limit), read(std::make_shared<ReadSegments>(limit)) {}

  SegmentMemory Find(uint32_t id) {
    return (id & kWorkerSegment) != 0 ? worker.Find(id) : pool.Find(id);
  }

  SegmentPool pool;
  WorkerSegments worker;
  CopyStreams streams;
  /// Never null.
  const std::shared_ptr<ReadSegments> read;
};

}  // namespace nereid::python

// SPDX-License-Identifier: Apache-2.0
#include "repository/mirror/object_transfers.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/parallel.h"

namespace nereid::repository::mirror {

using base::Status;
using base::StatusCode;

namespace {

constexpr uint32_t kMaxAttempts = 4;  // downloads of one object whose content is wrong

}  // namespace

ObjectTransfers::ObjectTransfers(Context context, std::vector<WantedObject> objects)
    : context_(std::move(context)) {
  for (WantedObject& wanted : objects) {
    Part& part = parts_.emplace_back();
    part.remaining = wanted.object.size;
    part.wanted = std::move(wanted);
    queue_.push_back(&part);
  }
}

size_t ObjectTransfers::CountChunks() const {
  size_t count = 0;
  for (const Part& part : parts_) count += 1 + part.wanted.object.size / context_.chunk_bytes;
  return count;
}

Status ObjectTransfers::Run() {
  const size_t threads = std::min<size_t>(context_.max_threads, CountChunks());
  base::RunOnThreads("model-download", threads, [this] { Work(); });
  base::MutexLock lock(mutex_);
  return failure_;
}

void ObjectTransfers::Work() {
  while (const auto chunk = Take()) {
    Status done = Fetch(*chunk);
    if (done.ok()) {
      bool is_complete = false;
      {
        base::MutexLock lock(mutex_);
        chunk->part->remaining -= chunk->size;
        is_complete = chunk->part->remaining == 0;
      }
      if (is_complete) done = Complete(*chunk->part);
    }
    if (!done.ok()) Fail(done);
  }
}

std::optional<ObjectTransfers::Chunk> ObjectTransfers::Take() {
  base::MutexLock lock(mutex_);
  if (failed_ || queue_.empty()) return std::nullopt;
  Part& part = *queue_.front();
  if (!part.file.is_open()) {
    failure_ = OpenPart(part);
    if (!failure_.ok()) {
      failed_ = true;
      return std::nullopt;
    }
  }
  const uint64_t size = part.wanted.object.size;
  const Chunk chunk{&part, part.begun, std::min(context_.chunk_bytes, size - part.begun)};
  part.begun += chunk.size;
  if (part.begun == size) queue_.pop_front();
  return chunk;
}

Status ObjectTransfers::OpenPart(Part& part) {
  part.temporary = context_.cache.NewTemporaryPath();
  NEREID_ASSIGN_OR_RETURN(part.file, context_.cache.files().Create(part.temporary));
  return Status::Ok();
}

bool ObjectTransfers::IsStopped() const {
  return failed_ || (context_.is_cancelled && context_.is_cancelled());
}

Status ObjectTransfers::Fetch(const Chunk& chunk) {
  if (chunk.size == 0) return Status::Ok();  // an empty object
  const auto is_stopped = [this] { return IsStopped(); };
  const TransferSlots::Slot slot = context_.slots.Take(is_stopped);
  if (!slot) return Status::Cancelled("the load was cancelled");
  uint64_t offset = chunk.offset;
  const auto receive = [&](std::string_view piece) {
    if (IsStopped()) return Status::Cancelled("the load was cancelled");
    NEREID_RETURN_IF_ERROR(
        context_.cache.files().Write(chunk.part->file, chunk.part->temporary, offset, piece));
    offset += piece.size();
    context_.progress.AddBytes(piece.size());
    context_.bytes_downloaded.fetch_add(piece.size(), std::memory_order_relaxed);
    if (context_.on_progress) context_.on_progress();
    return Status::Ok();
  };
  return context_.store.Read(chunk.part->wanted.object, chunk.offset, chunk.size, receive,
                             is_stopped);
}

Status ObjectTransfers::Complete(Part& part) {
  FileOperations& files = context_.cache.files();
  NEREID_RETURN_IF_ERROR(files.Sync(part.file, part.temporary));
  part.file = OpenFile();
  const storage::ObjectInfo& object = part.wanted.object;
  const auto added = context_.cache.Add(part.temporary, object, part.wanted.path);
  if (added.status().code() == StatusCode::kUnavailable) return Repeat(part, added.status());
  NEREID_RETURN_IF_ERROR(added.status());
  context_.progress.AddObject();
  return context_.cache.Record({context_.store_name, object.key, object.version, object.size},
                               *added);
}

Status ObjectTransfers::Repeat(Part& part, const Status& damage) {
  if (++part.attempts >= kMaxAttempts) {
    return Status::Unavailable(damage.message() + " in " + std::to_string(part.attempts) +
                               " downloads");
  }
  LOG_WARNING << damage.message() << "; it is downloaded again";
  NEREID_RETURN_IF_ERROR(context_.cache.files().Remove(part.temporary));
  context_.progress.TakeBack(part.wanted.object.size);
  base::MutexLock lock(mutex_);
  part.begun = 0;
  part.remaining = part.wanted.object.size;
  queue_.push_back(&part);
  return Status::Ok();
}

void ObjectTransfers::Fail(const Status& failure) {
  base::MutexLock lock(mutex_);
  // The threads that this failure stops report that they were cancelled.
  if (failure_.ok()) failure_ = failure;
  failed_ = true;
}

}  // namespace nereid::repository::mirror

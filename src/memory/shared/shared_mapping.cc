// SPDX-License-Identifier: Apache-2.0
#include "memory/shared/shared_mapping.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/checked_math.h"

namespace nereid::memory {
namespace {

using base::Status;

/// The number of bytes that may be read although they were never written.
constexpr uint64_t kMaxUnwritten = uint64_t{64} << 20;

std::string Named(const SharedRegion& region) {
  return "shared memory region '" + region.name + "' (key '" + region.key + "')";
}

Status CannotRegister(const SharedRegion& region, const std::string& why) {
  return Status::InvalidArgument("failed to register shared memory region '" + region.name +
                                 "': " + why);
}

}  // namespace

base::Result<SharedMapping> SharedMapping::Open(SharedRegion region, base::ByteBudget& budget) {
  NEREID_ASSIGN_OR_RETURN(SharedObject object, SharedObject::Open(region.name, region.key));
  return Map(std::move(region), std::move(object), budget);
}

base::Result<SharedMapping> SharedMapping::Map(SharedRegion region, SharedObject object,
                                               base::ByteBudget& budget) {
  SharedMapping mapping(std::move(region), std::move(object));
  NEREID_RETURN_IF_ERROR(mapping.MapInto(budget));
  return mapping;
}

Status SharedMapping::MapInto(base::ByteBudget& budget) {
  const auto end = base::CheckedAdd(region_.offset, region_.byte_size);
  if (!end || *end > object_.Size().bytes) return CannotRegister(region_, "invalid args");
  // The budget would accept any size while nothing else is taken.
  if (region_.byte_size > budget.limit() ||
      !budget.Take(region_.byte_size, /*may_wait=*/false, &share_)) {
    return Status::Unavailable("cannot register shared memory region '" + region_.name + "' of " +
                               std::to_string(region_.byte_size) +
                               " bytes: the regions that are registered or in use can have " +
                               std::to_string(budget.limit()) + " bytes together");
  }
  // The size of the object is an off_t, so both numbers fit.
  void* const data = mmap(nullptr, region_.byte_size, PROT_READ | PROT_WRITE, MAP_SHARED,
                          object_.file(), static_cast<off_t>(region_.offset));
  if (data == MAP_FAILED) {
    // Triton's text, without a separator. The usual reason is EINVAL: the offset is not a multiple
    // of the page size, or the size is 0.
    return CannotRegister(region_,
                          std::string("unable to process address space") + std::strerror(errno));
  }
  // Set first, so that the destructor unmaps it in any case.
  data_ = static_cast<char*>(data);
  // A process that a plug-in forks has no part in the region.
  (void)madvise(data, region_.byte_size, MADV_DONTFORK);
  NEREID_ASSIGN_OR_RETURN(guard_, GuardedRange::Claim(data, region_.byte_size));
  return Status::Ok();
}

SharedMapping::~SharedMapping() {
  if (data_ == nullptr) return;
  guard_ = GuardedRange();  // before the addresses can belong to anything else
  munmap(data_, region_.byte_size);
}

Status SharedMapping::CheckIntact() const {
  if (!IsBroken()) return Status::Ok();
  return Status::InvalidArgument(
      Named(region_) +
      " cannot be used any more: its object became smaller than the region, or its file system was "
      "full, while the server used it. Unregister the region, and register it again when the "
      "object "
      "has its full size");
}

Status SharedMapping::CheckUsable() const {
  NEREID_RETURN_IF_ERROR(CheckIntact());
  const uint64_t now = object_.Size().bytes;
  if (now >= region_.offset + region_.byte_size) return Status::Ok();
  return Status::InvalidArgument(
      Named(region_) + " was registered with bytes " + std::to_string(region_.offset) + " to " +
      std::to_string(region_.offset + region_.byte_size) + " of its object, which has only " +
      std::to_string(now) +
      " bytes now. Give the object its full size again, or register a region "
      "that fits");
}

Status SharedMapping::CheckStored(uint64_t byte_size) const {
  if (byte_size <= kMaxUnwritten) return Status::Ok();
  const uint64_t stored = object_.Size().stored_bytes;
  if (stored >= byte_size) return Status::Ok();
  return Status::InvalidArgument(
      Named(region_) + ": the input takes " + std::to_string(byte_size) + " bytes, but only " +
      std::to_string(stored) +
      " bytes of the object were ever written. Write the tensor before sending the request");
}

}  // namespace nereid::memory

// SPDX-License-Identifier: Apache-2.0
#include "device_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "settings.h"

namespace nereid::fake_gpu {
namespace {

using namespace device;  // the results

constexpr size_t kPage = 4096;
constexpr size_t kFilledBytes = 1 << 20;
constexpr CuPointer kArenas = 0x200000000000;
constexpr CuPointer kImports = 0x300000000000;
constexpr CuPointer kEnd = 0x500000000000;
constexpr CuPointer kArenaStride = CuPointer{1} << 40;

/// What a CuIpcHandle contains.
struct Handle {
  char magic[8];
  int process;
  int file;
  int physical;
  size_t offset;
  size_t size;
};
static_assert(sizeof(Handle) <= sizeof(CuIpcHandle));
constexpr char kMagic[8] = {'F', 'A', 'K', 'E', 'G', 'P', 'U', '1'};

size_t RoundUp(size_t size) { return (size + kPage - 1) / kPage * kPage; }

/// Reserves addresses near `hint` that the host cannot touch. With host access, maps the file.
CuPointer MapDevice(CuPointer hint, size_t size, int file, off_t offset) {
  const bool access = Settings::Get().host_access && file >= 0;
  void* const data =
      mmap(reinterpret_cast<void*>(hint), size, access ? PROT_READ | PROT_WRITE : PROT_NONE,
           access ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, access ? file : -1,
           access ? offset : 0);
  return data == MAP_FAILED ? 0 : reinterpret_cast<CuPointer>(data);
}

char* MapAlias(size_t size, int file, off_t offset) {
  void* const data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, offset);
  return data == MAP_FAILED ? nullptr : static_cast<char*>(data);
}

}  // namespace

DeviceMemory& DeviceMemory::Get() {
  static auto* const memory = new DeviceMemory;
  return *memory;
}

DeviceMemory::DeviceMemory() {
  const Settings& settings = Settings::Get();
  for (size_t i = 0; i < settings.visible.size(); ++i) {
    Arena arena;
    arena.size = RoundUp(settings.memory);
    arena.file = memfd_create("fake-gpu", MFD_CLOEXEC);
    if (arena.file < 0 || ftruncate(arena.file, static_cast<off_t>(arena.size)) != 0) std::abort();
    arena.address = MapDevice(kArenas + i * kArenaStride, arena.size, arena.file, 0);
    arena.alias = MapAlias(arena.size, arena.file, 0);
    if (arena.address == 0 || arena.alias == nullptr) std::abort();
    arena.used = std::min(RoundUp(settings.used_by_others), arena.size);
    areas_[arena.address] = arena.size;
    arenas_.push_back(std::move(arena));
  }
}

// The first gap that is large enough.
CuResult DeviceMemory::Take(int device, size_t size, size_t* offset) {
  if (device < 0 || device >= static_cast<int>(arenas_.size())) return kCudaInvalidDevice;
  Arena& arena = arenas_[static_cast<size_t>(device)];
  if (size == 0) return kCudaInvalidValue;
  if (size > arena.size || RoundUp(size) > arena.size - arena.used) return kCudaOutOfMemory;
  size = RoundUp(size);
  size_t end = 0;
  for (const auto& [begin, length] : arena.blocks) {
    if (begin - end >= size) break;
    end = begin + length;
  }
  if (end + size > arena.size) return kCudaOutOfMemory;
  arena.blocks[end] = size;
  arena.used += size;
  *offset = end;
  // Memory that is not initialized must not look like zeros.
  std::memset(arena.alias + end, 0xcd, std::min(size, kFilledBytes));
  return kCudaSuccess;
}

void DeviceMemory::Give(int device, size_t offset) {
  Arena& arena = arenas_[static_cast<size_t>(device)];
  const auto block = arena.blocks.find(offset);
  arena.used -= block->second;
  fallocate(arena.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
            static_cast<off_t>(block->first), static_cast<off_t>(block->second));
  arena.blocks.erase(block);
}

CuResult DeviceMemory::Allocate(int device, size_t size, CuPointer* data) {
  const std::unique_lock lock(mutex_);
  size_t offset = 0;
  if (const CuResult result = Take(device, size, &offset); result != 0) return result;
  const Arena& arena = arenas_[static_cast<size_t>(device)];
  *data = arena.address + offset;
  ranges_[*data] = {size, device, arena.alias + offset, Origin::kAllocated, 0, true};
  return kCudaSuccess;
}

CuResult DeviceMemory::Free(CuPointer data) {
  const std::unique_lock lock(mutex_);
  const auto range = ranges_.find(data);
  if (range == ranges_.end() || range->second.origin != Origin::kAllocated) {
    return kCudaInvalidValue;
  }
  const int device = range->second.device;
  Give(device, data - arenas_[static_cast<size_t>(device)].address);
  ranges_.erase(range);
  return kCudaSuccess;
}

DeviceMemory::Ranges::const_iterator DeviceMemory::Containing(CuPointer data) const {
  auto range = ranges_.upper_bound(data);
  if (range == ranges_.begin()) return ranges_.end();
  --range;
  return data - range->first < range->second.size ? range : ranges_.end();
}

CuResult DeviceMemory::Find(CuPointer data, CuPointer* base, size_t* size, int* device) const {
  const std::shared_lock lock(mutex_);
  const auto range = Containing(data);
  if (range == ranges_.end()) return kCudaInvalidValue;
  if (base != nullptr) *base = range->first;
  if (size != nullptr) *size = range->second.size;
  if (device != nullptr) *device = range->second.device;
  return kCudaSuccess;
}

size_t DeviceMemory::Used(int device, int* count) const {
  const std::shared_lock lock(mutex_);
  const Arena& arena = arenas_[static_cast<size_t>(device)];
  if (count != nullptr) *count = static_cast<int>(arena.blocks.size());
  return arena.used;
}

CuResult DeviceMemory::AllocatePinned(size_t size, void** data) {
  if (size == 0) return kCudaInvalidValue;
  void* const mapped =
      mmap(nullptr, RoundUp(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return kCudaOutOfMemory;
  const std::unique_lock lock(mutex_);
  pinned_[reinterpret_cast<CuPointer>(mapped)] = size;
  *data = mapped;
  return kCudaSuccess;
}

CuResult DeviceMemory::FreePinned(void* data) {
  const std::unique_lock lock(mutex_);
  const auto found = pinned_.find(reinterpret_cast<CuPointer>(data));
  if (found == pinned_.end()) return kCudaInvalidValue;
  munmap(data, RoundUp(found->second));
  pinned_.erase(found);
  return kCudaSuccess;
}

bool DeviceMemory::IsPinned(CuPointer data) const {
  const std::shared_lock lock(mutex_);
  auto found = pinned_.upper_bound(data);
  if (found == pinned_.begin()) return false;
  --found;
  return data - found->first < found->second;
}

size_t DeviceMemory::PinnedBytes() const {
  const std::shared_lock lock(mutex_);
  size_t bytes = 0;
  for (const auto& [address, size] : pinned_) bytes += size;
  return bytes;
}

CuResult DeviceMemory::Export(CuPointer data, CuIpcHandle* handle) const {
  const std::shared_lock lock(mutex_);
  const auto range = Containing(data);
  if (range == ranges_.end() || range->second.origin != Origin::kAllocated) {
    return kCudaInvalidValue;
  }
  const Arena& arena = arenas_[static_cast<size_t>(range->second.device)];
  Handle content = {};
  std::memcpy(content.magic, kMagic, sizeof(kMagic));
  content.process = getpid();
  content.file = arena.file;
  content.physical = Settings::Get().visible[static_cast<size_t>(range->second.device)].physical;
  content.offset = range->first - arena.address;
  content.size = range->second.size;
  *handle = {};
  std::memcpy(handle, &content, sizeof(content));
  return kCudaSuccess;
}

CuResult DeviceMemory::Import(const CuIpcHandle& handle, CuPointer* data) {
  Handle content = {};
  std::memcpy(&content, &handle, sizeof(content));
  if (std::memcmp(content.magic, kMagic, sizeof(kMagic)) != 0) return kCudaInvalidValue;
  if (content.process == getpid() && !Settings::Get().same_process_ipc) return kCudaInvalidContext;
  int device = -1;
  const auto& visible = Settings::Get().visible;
  for (size_t i = 0; i < visible.size(); ++i) {
    if (visible[i].physical == content.physical) device = static_cast<int>(i);
  }
  if (device < 0) return kCudaInvalidDevice;
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/%d/fd/%d", content.process, content.file);
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return kCudaInvalidValue;
  const auto offset = static_cast<off_t>(content.offset);
  const size_t mapped = RoundUp(content.size);
  char* const alias = MapAlias(mapped, file, offset);
  const CuPointer address = alias == nullptr ? 0 : MapDevice(kImports, mapped, file, offset);
  close(file);
  if (address == 0) return kCudaInvalidValue;
  const std::unique_lock lock(mutex_);
  ranges_[address] = {content.size, device, alias, Origin::kImported, 0, true};
  areas_[address] = mapped;
  *data = address;
  return kCudaSuccess;
}

CuResult DeviceMemory::CloseImported(CuPointer data) {
  const std::unique_lock lock(mutex_);
  const auto range = ranges_.find(data);
  if (range == ranges_.end() || range->second.origin != Origin::kImported) {
    return kCudaInvalidValue;
  }
  munmap(range->second.alias, RoundUp(range->second.size));
  munmap(reinterpret_cast<void*>(data), RoundUp(range->second.size));
  areas_.erase(data);
  ranges_.erase(range);
  return kCudaSuccess;
}

bool DeviceMemory::IsDevice(CuPointer data) const {
  const std::shared_lock lock(mutex_);
  return IsDeviceLocked(data);
}

bool DeviceMemory::IsDeviceLocked(CuPointer data) const {
#if !defined(__SANITIZE_THREAD__)
  if (data >= kArenas && data < kEnd) return true;
#endif
  auto area = areas_.upper_bound(data);
  if (area == areas_.begin()) return false;
  --area;
  return data - area->first < area->second;
}

CuResult DeviceMemory::Resolve(CuPointer data, size_t size, Pieces* pieces) const {
  if (size == 0) return kCudaSuccess;
  if (data == 0) return kCudaInvalidValue;
  if (!IsDeviceLocked(data)) {
    pieces->emplace_back(reinterpret_cast<char*>(data), size);
    return kCudaSuccess;
  }
  while (size > 0) {
    const auto range = Containing(data);
    if (range == ranges_.end() || !range->second.accessible) return kCudaInvalidValue;
    const size_t offset = data - range->first;
    const size_t length = std::min(size, range->second.size - offset);
    pieces->emplace_back(range->second.alias + offset, length);
    size -= length;
    data += length;
    // Two allocations that happen to be neighbors are not one piece of memory.
    if (size > 0 && range->second.origin != Origin::kMapped) return kCudaInvalidValue;
  }
  return kCudaSuccess;
}

CuResult DeviceMemory::Copy(CuPointer to, CuPointer from, size_t size) const {
  const std::shared_lock lock(mutex_);
  Pieces targets;
  Pieces sources;
  if (const CuResult result = Resolve(to, size, &targets); result != 0) return result;
  if (const CuResult result = Resolve(from, size, &sources); result != 0) return result;
  size_t target = 0;
  size_t source = 0;
  while (size > 0) {
    auto& [out, room] = targets[target];
    auto& [in, left] = sources[source];
    const size_t length = std::min(room, left);
    std::memmove(out, in, length);
    out += length;
    in += length;
    size -= length;
    if ((room -= length) == 0) ++target;
    if ((left -= length) == 0) ++source;
  }
  return kCudaSuccess;
}

CuResult DeviceMemory::Set(CuPointer data, unsigned char value, size_t size) const {
  const std::shared_lock lock(mutex_);
  Pieces pieces;
  if (const CuResult result = Resolve(data, size, &pieces); result != 0) return result;
  for (const auto& [out, length] : pieces) std::memset(out, value, length);
  return kCudaSuccess;
}

char* DeviceMemory::Alias(CuPointer data, size_t size) const {
  const std::shared_lock lock(mutex_);
  Pieces pieces;
  if (size == 0 || Resolve(data, size, &pieces) != 0 || pieces.empty()) return nullptr;
  size_t length = pieces[0].second;
  for (size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[0].first + length != pieces[i].first) return nullptr;
    length += pieces[i].second;
  }
  return pieces[0].first;
}

}  // namespace nereid::fake_gpu

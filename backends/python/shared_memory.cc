// SPDX-License-Identifier: Apache-2.0
#include "python/shared_memory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "framework/gpu_copies.h"

namespace nereid::python {
namespace {

using backend::Error;

constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

Error NoMemory(uint64_t size, int reason) {
  return {TRITONSERVER_ERROR_UNAVAILABLE,
          "cannot reserve " + std::to_string(size) +
              " bytes of shared memory for a Python model: " + std::strerror(reason)};
}

}  // namespace

Error SharedMemory::Create(uint64_t size, std::shared_ptr<SharedMemory>* memory) {
  base::UniqueFd file(memfd_create("nereid_python", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.ok() || size > INT64_MAX) {
    return NoMemory(size, file.ok() ? EFBIG : errno);
  }
  // Reserves the pages: a write to a page that the system cannot provide would end the server.
  if (const int failure = posix_fallocate(file.get(), 0, static_cast<off_t>(size)); failure != 0) {
    return NoMemory(size, failure);
  }
  if (fcntl(file.get(), F_ADD_SEALS, kSizeSeals) != 0) {
    return NoMemory(size, errno);
  }
  void* data =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file.get(), 0);
  if (data == MAP_FAILED) {
    return NoMemory(size, errno);
  }
  memory->reset(new SharedMemory(std::move(file), static_cast<char*>(data), size));
  return {};
}

Error CheckSealedFile(int file, uint64_t size) {
  // F_GET_SEALS fails for files that are no memfd, and a memfd of huge pages (which have a file
  // system of their own) may lack memory when it is read.
  const int seals = fcntl(file, F_GET_SEALS);
  struct statfs system {};
  struct stat status {};
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstatfs(file, &system) != 0 ||
      system.f_type != TMPFS_MAGIC || fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    return Error::InvalidArgument("the process of the model passed a file that may shrink");
  }
  if (status.st_size < 0 || static_cast<uint64_t>(status.st_size) < size) {
    return Error::InvalidArgument("the process of the model passed a file of " +
                                  std::to_string(status.st_size) + " bytes as one of " +
                                  std::to_string(size));
  }
  return {};
}

Error SharedMemory::Accept(base::UniqueFd file, uint64_t size,
                           std::shared_ptr<SharedMemory>* memory) {
  NEREID_BACKEND_TRY(CheckSealedFile(file.get(), size));
  if (size == 0) {
    return Error::InvalidArgument("the process of the model passed an empty file");
  }
  void* data = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
  if (data == MAP_FAILED) {
    return NoMemory(size, errno);
  }
  // The mapping keeps the file.
  file.Reset();
  memory->reset(new SharedMemory(std::move(file), static_cast<char*>(data), size));
  return {};
}

Error SharedMemory::CreateOnGpu(int gpu, uint64_t size, std::shared_ptr<SharedMemory>* memory) {
  base::UniqueFd file;
  auto made = device::SharedAllocation::Create(gpu, size, &file);
  if (!made.ok()) {
    return framework::ToError(made.status());
  }
  memory->reset(new SharedMemory(std::move(file), std::move(made).value()));
  return {};
}

Error SharedMemory::AcceptOnGpu(int gpu, base::UniqueFd file, uint64_t size,
                                std::shared_ptr<SharedMemory>* memory) {
  auto opened = device::SharedAllocation::Open(gpu, size, file.get());
  if (!opened.ok()) {
    return framework::ToError(opened.status());
  }
  memory->reset(new SharedMemory(base::UniqueFd(), std::move(opened).value()));
  return {};
}

SharedMemory::~SharedMemory() {
  if (on_gpu_ == nullptr) {
    munmap(data_, size_);
  }
}

}  // namespace nereid::python

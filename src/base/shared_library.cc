// SPDX-License-Identifier: Apache-2.0
#include "base/shared_library.h"

#include <dlfcn.h>

namespace nereid::base {
namespace {

// LeakSanitizer searches for leaks when the process ends. If a library has been closed by then,
// reports have no symbol names, and memory that its static variables own looks leaked. Under
// AddressSanitizer libraries therefore stay loaded.
#ifdef __SANITIZE_ADDRESS__
constexpr int kFlags = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
#else
constexpr int kFlags = RTLD_NOW | RTLD_LOCAL;
#endif

}  // namespace

Result<std::unique_ptr<SharedLibrary>> SharedLibrary::Open(const std::string& path) {
  void* handle = dlopen(path.c_str(), kFlags);
  if (handle == nullptr) {
    const char* reason = dlerror();
    return Status::NotFound("unable to load shared library: " +
                            std::string(reason != nullptr ? reason : path.c_str()));
  }
  return std::unique_ptr<SharedLibrary>(new SharedLibrary(path, handle));
}

SharedLibrary::~SharedLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

void* SharedLibrary::Find(const char* symbol) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, symbol);
}

}  // namespace nereid::base

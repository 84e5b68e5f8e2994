// SPDX-License-Identifier: Apache-2.0
#include "base/shared_library.h"

#include <dlfcn.h>

namespace nereid::base {
namespace {

// LeakSanitizer looks for leaks at the end: by then a library that was closed, and with it the
// framework that it needs, has no names for a report, and what its own variables held looks lost.
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

// SPDX-License-Identifier: Apache-2.0
#include "base/testing/failing_readdir.h"

#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>

#include "base/mutex.h"

namespace nereid::base::testing {
namespace {

struct Failure {
  Mutex mutex;
  std::string path NEREID_GUARDED_BY(mutex);  // empty: none
  int error NEREID_GUARDED_BY(mutex) = 0;
};

Failure& TheFailure() {
  static Failure failure;
  return failure;
}

/// The errno with which reading on is to fail; 0 for none. The first entry that the system gives is
/// ".", at offset 0.
int ErrorFor(DIR* directory) {
  Failure& failure = TheFailure();
  const MutexLock lock(failure.mutex);
  if (failure.path.empty() || telldir(directory) == 0) return 0;
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(dirfd(directory));
  const ssize_t size = readlink(link.c_str(), path, sizeof(path));
  return size > 0 && failure.path == std::string(path, static_cast<size_t>(size)) ? failure.error
                                                                                  : 0;
}

template <typename Entry>
Entry* Read(const char* name, DIR* directory) {
  if (const int error = ErrorFor(directory); error != 0) {
    errno = error;
    return nullptr;
  }
  return reinterpret_cast<Entry* (*)(DIR*)>(dlsym(RTLD_NEXT, name))(directory);
}

}  // namespace

FailingReaddir::FailingReaddir(const std::string& path, int error) {
  const MutexLock lock(TheFailure().mutex);
  TheFailure().path = path;
  TheFailure().error = error;
}

FailingReaddir::~FailingReaddir() {
  const MutexLock lock(TheFailure().mutex);
  TheFailure().path.clear();
}

}  // namespace nereid::base::testing

// Must be visible, otherwise libstdc++ would use the function of the C library.
#pragma GCC visibility push(default)
extern "C" {

dirent* readdir(DIR* directory) {
  return nereid::base::testing::Read<dirent>("readdir", directory);
}

dirent64* readdir64(DIR* directory) {
  return nereid::base::testing::Read<dirent64>("readdir64", directory);
}

}  // extern "C"
#pragma GCC visibility pop

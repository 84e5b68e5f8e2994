// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace nereid::base {

/// A shared object opened with dlopen(RTLD_NOW | RTLD_LOCAL), so that the symbols of one plug-in
/// are not used to resolve those of another. Closed when destroyed.
class SharedLibrary {
 public:
  /// Loads the library. NOT_FOUND, with the loader's reason, if that fails.
  static Result<std::unique_ptr<SharedLibrary>> Open(const std::string& path);
  ~SharedLibrary();
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  const std::string& path() const { return path_; }

  /// Returns the address of `symbol`, or nullptr if the library does not define it. The pointer is
  /// valid while the library is loaded.
  void* Find(const char* symbol) const;

  /// Sets `*function` to the address of `symbol`, or to nullptr.
  template <typename Function>
  void Find(const char* symbol, Function** function) const {
    *function = reinterpret_cast<Function*>(Find(symbol));
  }

  /// Keeps the library loaded until the process ends. For libraries whose threads or atexit
  /// handlers run until then. Find() must not be called afterwards.
  void Leak() { handle_ = nullptr; }

 private:
  SharedLibrary(std::string path, void* handle) : path_(std::move(path)), handle_(handle) {}
  std::string path_;
  void* handle_;
};

}  // namespace nereid::base

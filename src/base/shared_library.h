// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace nereid::base {

/// A shared object opened with dlopen(RTLD_NOW | RTLD_LOCAL), so that one plug-in's symbols never
/// satisfy another's. Closed when destroyed.
class SharedLibrary {
 public:
  static Result<std::unique_ptr<SharedLibrary>> Open(const std::string& path);
  ~SharedLibrary();
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  const std::string& path() const { return path_; }

  /// The address of `symbol`, or nullptr when the library does not define it.
  void* Find(const char* symbol) const;

  /// Sets `function` to it.
  template <typename Function>
  void Find(const char* symbol, Function** function) const {
    *function = reinterpret_cast<Function*>(Find(symbol));
  }

  /// Keeps the library mapped for ever, for libraries whose threads or atexit handlers outlive us.
  void Leak() { handle_ = nullptr; }

 private:
  SharedLibrary(std::string path, void* handle) : path_(std::move(path)), handle_(handle) {}
  std::string path_;
  void* handle_;
};

}  // namespace nereid::base

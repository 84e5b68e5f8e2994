// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "nereid/backend/error.h"
#include "nereid/custom.h"

namespace nereid::custom {

using backend::Error;

/// The functions of a custom library. Version 1 has `execute` and version 2 `execute_v2`; the other
/// of these two is null.
struct CustomFunctions {
  uint32_t version = 1;
  CustomInitializeFn_t initialize = nullptr;
  CustomFinalizeFn_t finalize = nullptr;
  CustomErrorStringFn_t error_string = nullptr;
  CustomExecuteFn_t execute = nullptr;
  CustomExecuteV2Fn_t execute_v2 = nullptr;

  const char* execute_name() const { return version == 2 ? "CustomExecuteV2" : "CustomExecute"; }
};

/// An opened custom library. Closed when its last owner is destroyed.
class CustomLibrary {
 public:
  /// Opens `path` with local symbols and looks up its functions. Error messages begin with `owner`
  /// ("model 'm'") and name the library and the missing function.
  static Error Open(const std::string& owner, const std::string& path,
                    std::shared_ptr<const CustomLibrary>* library);

  CustomLibrary(const CustomLibrary&) = delete;
  CustomLibrary& operator=(const CustomLibrary&) = delete;
  ~CustomLibrary();

  const CustomFunctions& functions() const { return functions_; }
  const std::string& path() const { return path_; }

 private:
  CustomLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}

  Error FindFunctions(const std::string& owner);

  void* const handle_;
  const std::string path_;
  CustomFunctions functions_;
};

}  // namespace nereid::custom

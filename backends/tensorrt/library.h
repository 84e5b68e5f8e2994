// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <NvInfer.h>

#include <memory>
#include <string>

#include "nereid/backend/error.h"

namespace nereid::tensorrt {

using backend::Error;

/// The runtime library of TensorRT. It is opened when the first model is loaded, and never linked:
/// the plug-in also loads where TensorRT is missing. Everything else of TensorRT is reached through
/// the objects that this library makes.
class TensorRtLibrary {
 public:
  /// Opens the library, once, with TensorRT's plugins; it stays open until the process ends.
  /// `directory` is that of this plug-in. Looks for the full, the lean and the dispatch runtime, in
  /// this order, first in `directory` and then where the system's loader looks;
  /// NEREID_TENSORRT_LIBRARY in the environment names another file. NOT_FOUND, with all reasons, if
  /// there is none; UNSUPPORTED if its version does not fit the headers that this plug-in was
  /// compiled with. A failure is not remembered.
  static Error Get(const std::string& directory, const TensorRtLibrary** library);

  /// Opens a library with plugins of TensorRT's users. It stays open until the process ends.
  Error OpenPlugin(const std::string& path) const;
  /// Makes a runtime on the current GPU. UNAVAILABLE, with TensorRT's reason, if it cannot use the
  /// driver, for example because the driver is older than it needs.
  Error MakeRuntime(std::unique_ptr<nvinfer1::IRuntime>* runtime) const;

  const std::string& path() const { return path_; }

 private:
  Error Open(const std::string& path);

  std::string path_;
  void* (*make_runtime_)(void* logger, int32_t version) = nullptr;
};

/// Returns the text of a version as TensorRT encodes it: 8601 is 8.6.1 and 101601 is 10.16.1.
std::string VersionText(int32_t version);

/// Returns why a plug-in that was compiled with the headers of version `headers` cannot use a
/// library of version `library`; empty if it can. A library is compatible with older headers of
/// the same major version.
std::string WhyUnfit(int32_t library, int32_t headers);

}  // namespace nereid::tensorrt

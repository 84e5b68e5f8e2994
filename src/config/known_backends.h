// SPDX-License-Identifier: Apache-2.0
// The backends that a configuration can imply by a platform or a model file. The table follows the
// section "Name, Platform and Backend" of Triton's model_configuration.md and the derivation of
// Triton 2.51 (tests/peer/test_config_derivation.py compares both). caffe2_netdef and custom are
// from the first generation of configurations, libtorch and torch_aoti from later ones than 2.51.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace nereid::config {

inline constexpr std::string_view kEnsemblePlatform = "ensemble";
inline constexpr std::string_view kTensorRtPlatform = "tensorrt_plan";

/// Whether a model in a version's directory is a file, a directory, or either.
enum class ModelFileKind { kFile, kDirectory, kEither };

/// A form of models that a backend reads.
struct ModelFormat {
  /// The name of the model in a version's directory if the configuration gives none.
  std::string_view filename;
  ModelFileKind kind = ModelFileKind::kFile;
  /// The platform that stands for this form; empty if the backend has no platforms.
  std::string_view platform;
};

struct KnownBackend {
  std::string_view name;
  /// In order of precedence: the first one that a version's directory contains is used.
  std::span<const ModelFormat> formats;
  /// A configuration with this backend must have one of its platforms
  /// (identity.platform_backend_pair).
  bool requires_own_platform = false;
  /// The platform of the first format is used if nothing shows the format.
  bool has_default_platform = true;
  /// The instances of a KIND_CPU group that has no count.
  int32_t cpu_instance_count = 1;
  /// All models of the process share one pool of threads, which the framework can size.
  bool shares_threads = false;
  /// For each number of threads of an execution, the model is in memory once more.
  bool copies_for_threads = false;
};

/// Returns the table in order of precedence: a model file is looked up in the backends' formats in
/// this order.
std::span<const KnownBackend> KnownBackends();

/// Returns the row of a backend, or null.
const KnownBackend* FindKnownBackend(std::string_view name);

/// Returns the backend of a platform; empty for "ensemble" and for unknown platforms.
std::string_view BackendOfPlatform(std::string_view platform);

/// Returns the platform for a backend and a file name; empty if there is none.
std::string_view PlatformOfBackend(std::string_view backend, std::string_view filename);

/// Returns the name of the model file in a version's directory if the configuration names none;
/// empty if the backend has no default.
std::string_view DefaultFilename(std::string_view backend, std::string_view platform);

}  // namespace nereid::config

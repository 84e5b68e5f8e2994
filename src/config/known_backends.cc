// SPDX-License-Identifier: Apache-2.0
#include "config/known_backends.h"

#include <algorithm>

namespace nereid::config {
namespace {

constexpr ModelFileKind kFile = ModelFileKind::kFile;
constexpr ModelFileKind kDirectory = ModelFileKind::kDirectory;
constexpr ModelFileKind kEither = ModelFileKind::kEither;

constexpr ModelFormat kTensorFlow[] = {{"model.graphdef", kFile, "tensorflow_graphdef"},
                                       {"model.savedmodel", kDirectory, "tensorflow_savedmodel"}};
constexpr ModelFormat kTensorRt[] = {{"model.plan", kFile, kTensorRtPlatform}};
constexpr ModelFormat kOnnxRuntime[] = {{"model.onnx", kEither, "onnxruntime_onnx"}};
constexpr ModelFormat kOpenVino[] = {{"model.xml", kFile, ""}};
constexpr ModelFormat kPyTorch[] = {{"model.pt", kFile, "pytorch_libtorch"},
                                    {"model.pt", kFile, "libtorch"},
                                    {"model.pt2", kFile, "torch_aoti"}};
constexpr ModelFormat kPython[] = {{"model.py", kFile, ""}};
constexpr ModelFormat kCaffe2[] = {{"model.netdef", kFile, "caffe2_netdef"}};
constexpr ModelFormat kCustom[] = {{"libcustom.so", kFile, "custom"}};

// TensorFlow has no default platform: a file name of its own does not show whether a model is a
// saved model or a graph. Two instances of onnxruntime and tensorflow run well in parallel on the
// CPU; Triton has the same default.
constexpr KnownBackend kBackends[] = {
    {.name = "tensorflow",
     .formats = kTensorFlow,
     .requires_own_platform = true,
     .has_default_platform = false,
     .cpu_instance_count = 2,
     .shares_threads = true},
    {.name = "tensorrt", .formats = kTensorRt, .requires_own_platform = true},
    {.name = "onnxruntime",
     .formats = kOnnxRuntime,
     .requires_own_platform = true,
     .cpu_instance_count = 2,
     .copies_for_threads = true},
    {.name = "openvino", .formats = kOpenVino, .copies_for_threads = true},
    {.name = "pytorch", .formats = kPyTorch, .requires_own_platform = true},
    {.name = "python", .formats = kPython},
    {.name = "caffe2", .formats = kCaffe2, .copies_for_threads = true},
    {.name = "custom", .formats = kCustom},
};

}  // namespace

std::span<const KnownBackend> KnownBackends() { return kBackends; }

const KnownBackend* FindKnownBackend(std::string_view name) {
  const auto* const found = std::ranges::find(kBackends, name, &KnownBackend::name);
  return found == std::end(kBackends) ? nullptr : found;
}

std::string_view BackendOfPlatform(std::string_view platform) {
  if (platform.empty()) return {};
  for (const KnownBackend& backend : kBackends) {
    for (const ModelFormat& format : backend.formats) {
      if (format.platform == platform) return backend.name;
    }
  }
  return {};
}

std::string_view PlatformOfBackend(std::string_view backend, std::string_view filename) {
  const KnownBackend* const known = FindKnownBackend(backend);
  if (known == nullptr) return {};
  for (const ModelFormat& format : known->formats) {
    if (format.filename == filename) return format.platform;
  }
  return known->has_default_platform ? known->formats.front().platform : std::string_view();
}

std::string_view DefaultFilename(std::string_view backend, std::string_view platform) {
  const KnownBackend* const known = FindKnownBackend(backend);
  if (known == nullptr) return {};
  for (const ModelFormat& format : known->formats) {
    // Backends without platforms accept any platform.
    if (format.platform.empty() || format.platform == platform) return format.filename;
  }
  return {};
}

}  // namespace nereid::config

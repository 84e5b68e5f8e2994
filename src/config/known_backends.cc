// SPDX-License-Identifier: Apache-2.0
#include "config/known_backends.h"

#include <algorithm>
#include <array>

namespace nereid::config {
namespace {

struct PlatformRow {
  std::string_view platform;
  std::string_view backend;
  std::string_view filename;
};

// The first row of a backend has its default platform. caffe2_netdef and custom are from the first
// generation of configurations, libtorch and torch_aoti from the latest.
constexpr std::array<PlatformRow, 9> kPlatforms = {{
    {"tensorflow_graphdef", "tensorflow", "model.graphdef"},
    {"tensorflow_savedmodel", "tensorflow", "model.savedmodel"},
    {"tensorrt_plan", "tensorrt", "model.plan"},
    {"onnxruntime_onnx", "onnxruntime", "model.onnx"},
    {"pytorch_libtorch", "pytorch", "model.pt"},
    {"libtorch", "pytorch", "model.pt"},
    {"torch_aoti", "pytorch", "model.pt2"},
    {"caffe2_netdef", "caffe2", "model.netdef"},
    {"custom", "custom", "libcustom.so"},
}};

// Backends that have a default file name but no platform.
struct FilenameRow {
  std::string_view backend;
  std::string_view filename;
};
constexpr std::array<FilenameRow, 2> kFilenames = {{
    {"openvino", "model.xml"},
    {"python", "model.py"},
}};

}  // namespace

std::string_view BackendOfPlatform(std::string_view platform) {
  for (const PlatformRow& row : kPlatforms) {
    if (row.platform == platform) return row.backend;
  }
  return {};
}

bool BackendHasPlatforms(std::string_view backend) {
  return backend == "tensorrt" || backend == "tensorflow" || backend == "onnxruntime" ||
         backend == "pytorch";
}

std::string_view PlatformOfBackend(std::string_view backend, std::string_view filename) {
  std::string_view fallback;
  for (const PlatformRow& row : kPlatforms) {
    if (row.backend != backend) continue;
    if (row.filename == filename) return row.platform;
    if (fallback.empty()) fallback = row.platform;
  }
  // Other file names do not show whether a TensorFlow model is a saved model or a graph.
  return backend == "tensorflow" ? std::string_view() : fallback;
}

std::string_view DefaultFilename(std::string_view backend, std::string_view platform) {
  for (const PlatformRow& row : kPlatforms) {
    if (row.backend == backend && row.platform == platform) return row.filename;
  }
  for (const FilenameRow& row : kFilenames) {
    if (row.backend == backend) return row.filename;
  }
  return {};
}

}  // namespace nereid::config

// SPDX-License-Identifier: Apache-2.0
#include "app/tools/infer/save_output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "app/tools/tensors/fit_shape.h"
#include "app/tools/tensors/nested_values.h"
#include "app/tools/tensors/npy_file.h"
#include "base/json_writer.h"

namespace nereid::app::tools {
namespace {

using base::Status;

base::Result<std::string> ContentFor(const Tensor& tensor, const std::string& path) {
  if (path.ends_with(".npy")) return NpyContent(tensor);
  if (path.ends_with(".json")) {
    std::string text;
    base::JsonWriter json(&text);
    WriteFlatValues(tensor, &json);
    return text + "\n";
  }
  if (tensor.type != tensor::DataType::kBytes || CountElements(tensor) != 1) return tensor.bytes;
  return tensor.bytes.substr(4);  // behind the length of the only element
}

}  // namespace

Status SaveTensor(const Tensor& tensor, const std::string& path) {
  NEREID_ASSIGN_OR_RETURN(const std::string content, ContentFor(tensor, path));
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file != nullptr) {
    const bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size();
    // The close writes the rest, so it fails on a full disk.
    if (std::fclose(file) == 0 && written) return {};
  }
  return Status::Unavailable("the file '" + path + "' cannot be written: " + std::strerror(errno));
}

std::string NumberedPath(const std::string& path, uint64_t index) {
  if (index == 0) return path;
  const size_t slash = path.rfind('/');
  size_t dot = path.rfind('.');
  if (dot == path.npos || (slash != path.npos && dot < slash)) dot = path.size();
  return path.substr(0, dot) + "-" + std::to_string(index + 1) + path.substr(dot);
}

}  // namespace nereid::app::tools

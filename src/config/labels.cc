// SPDX-License-Identifier: Apache-2.0
#include "config/labels.h"

#include <filesystem>

#include "base/files.h"
#include "config/text/invalid_utf8.h"

namespace nereid::config {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxLabelFileBytes = uint64_t{64} << 20;

base::Status Outside(const std::string& model_directory, const std::string& label_filename) {
  return base::Status::Unsupported("label file '" + label_filename +
                                   "' is outside the model directory " + model_directory);
}

}  // namespace

std::vector<std::string> ParseLabels(std::string_view text) {
  std::vector<std::string> labels;
  if (text.starts_with(kUtf8ByteOrderMark)) text.remove_prefix(kUtf8ByteOrderMark.size());
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    labels.emplace_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return labels;
}

base::Result<std::vector<std::string>> ReadLabelFile(const std::string& model_directory,
                                                     const std::string& label_filename) {
  const fs::path relative(label_filename);
  if (relative.is_absolute()) return Outside(model_directory, label_filename);
  const std::string path = base::JoinPath(model_directory, label_filename);
  if (!base::IsInside(model_directory, path)) return Outside(model_directory, label_filename);
  NEREID_ASSIGN_OR_RETURN(const std::string text, base::ReadFile(path, kMaxLabelFileBytes));
  return ParseLabels(text);
}

}  // namespace nereid::config

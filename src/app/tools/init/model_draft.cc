// SPDX-License-Identifier: Apache-2.0
#include "app/tools/init/model_draft.h"

#include <array>
#include <filesystem>
#include <string_view>

#include "app/tools/init/mapped_file.h"
#include "app/tools/init/model_files.h"
#include "base/files.h"
#include "config/known_backends.h"
#include "layout/advise.h"

namespace nereid::app::tools {
namespace {

namespace fs = std::filesystem;
using base::Status;

struct Format {
  std::string_view ending;
  std::string_view backend;
  std::string_view platform;  // empty unless the backend has several
  // A comment about the example tensors; empty if the file declares its tensors.
  std::string_view hint;
};

constexpr std::array<Format, 9> kFormats = {{
    {".onnx", "onnxruntime", "", ""},
    {".savedmodel", "tensorflow", "tensorflow_savedmodel", ""},
    {".graphdef", "tensorflow", "tensorflow_graphdef",
     "The names are those of the graph's placeholders and output nodes."},
    {".pt", "pytorch", "", ""},
    {".pt2", "pytorch", "torch_aoti", "The number after __ is the position of the tensor."},
    {".plan", "tensorrt", "", "The backend can complete the configuration of a plan."},
    {".xml", "openvino", "", ""},
    {".py", "python", "", "The names are those that model.py reads and writes."},
    {".netdef", "caffe2", "caffe2_netdef", "The names are those of the net's blobs."},
}};

const Format* FormatOf(const std::string& path) {
  for (const Format& format : kFormats) {
    if (path.ends_with(format.ending)) return &format;
  }
  return nullptr;
}

// Adds example tensors, which the user replaces.
void AddSkeleton(const Format* format, ConfigDraft* draft) {
  const bool numbered = draft->backend == "pytorch";
  draft->is_skeleton = true;
  draft->notes.push_back(
      "Replace the names, data types and dims of the example inputs and outputs.");
  if (format != nullptr && !format->hint.empty()) draft->notes.emplace_back(format->hint);
  for (auto* list : {&draft->inputs, &draft->outputs}) {
    DraftTensor tensor;
    tensor.name = list == &draft->inputs ? "INPUT" : "OUTPUT";
    tensor.name += numbered ? "__0" : "0";
    tensor.has_dims = false;
    tensor.is_example = true;
    list->push_back(std::move(tensor));
  }
}

}  // namespace

base::Result<ConfigDraft> DraftOfModel(const std::string& path, const std::string& backend) {
  const Format* format = FormatOf(path);
  if (format == nullptr && base::PathExists(base::JoinPath(path, "saved_model.pb"))) {
    format = &kFormats[1];
  }
  if (format == nullptr && backend.empty()) {
    return Status::InvalidArgument("the file name '" + fs::path(path).filename().string() +
                                   "' does not determine the backend; set it with --backend");
  }
  ConfigDraft draft;
  const bool own = format != nullptr && (backend.empty() || backend == format->backend);
  draft.backend = own ? std::string(format->backend) : backend;
  if (own) draft.platform = format->platform;
  if (!base::IsDirectory(path)) {
    const auto entry = layout::LookAtFile(path, fs::path(path).filename().string());
    if (const auto advice = layout::AdviseOnFile(path, entry)) {
      return Status::InvalidArgument(advice->Text());
    }
  }
  const std::string name = fs::path(path).filename().string();
  draft.notes.push_back("Made by nereid init from " + name + ".");
  if (name !=
      config::DefaultFilename(draft.backend, draft.platform.empty()
                                                 ? config::PlatformOfBackend(draft.backend, "")
                                                 : std::string_view(draft.platform))) {
    draft.default_model_filename = name;
  }
  Status (*read)(std::string_view, ConfigDraft*) = nullptr;
  std::string file = path;
  if (format == &kFormats[0]) read = ReadOnnx;
  if (format == &kFormats[1]) read = ReadSavedModel;
  if (format == &kFormats[6]) read = ReadOpenVino;
  if (base::IsDirectory(file)) {
    file = base::JoinPath(file, format == &kFormats[0] ? "model.onnx" : "saved_model.pb");
  }
  if (own && format == &kFormats[3]) {
    const auto script = base::OpenByteSource(file);
    if (!script.ok()) {
      return Status::NotFound("failed to read " + path + ": " + script.status().message());
    }
    NEREID_RETURN_IF_ERROR(ReadTorchScriptFile(**script, &draft).WithPrefix(path + ": "));
    return draft;
  }
  if (read == nullptr) {
    AddSkeleton(own ? format : nullptr, &draft);
    return draft;
  }
  NEREID_ASSIGN_OR_RETURN(const auto mapped, MappedFile::Open(file));
  NEREID_RETURN_IF_ERROR(read(mapped->bytes(), &draft).WithPrefix(path + ": "));
  return draft;
}

}  // namespace nereid::app::tools

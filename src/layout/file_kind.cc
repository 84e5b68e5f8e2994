// SPDX-License-Identifier: Apache-2.0
#include "layout/file_kind.h"

#include <string>

#include "base/ascii_case.h"
#include "base/wire_scan.h"
#include "base/zip_directory.h"

namespace nereid::layout {
namespace {

using base::ByteSource;

constexpr size_t kHeadSize = 512;
/// The largest directory of a ZIP file that is read to recognize it.
constexpr uint64_t kMaxZipDirectory = uint64_t{64} << 20;
/// The fields of a protobuf message after which its kind is certain.
constexpr int kMaxFields = 256;

struct Magic {
  std::string_view bytes;
  size_t offset;
  FileKind kind;
};

// The last line of torch.save's old form is the start of its magic number, pickled.
constexpr Magic kMagics[] = {
    {"version https://git-lfs.github.com/spec/", 0, FileKind::kGitLfsPointer},
    {"\x1f\x8b", 0, FileKind::kArchive},
    {"BZh", 0, FileKind::kArchive},
    {{"\xfd"
      "7zXZ",
      5},
     0,
     FileKind::kArchive},
    {"\x28\xb5\x2f\xfd", 0, FileKind::kArchive},
    {"ustar", 257, FileKind::kArchive},
    {"\x89HDF\r\n\x1a\n", 0, FileKind::kHdf5},
    {"TFL3", 4, FileKind::kTfLite},
    {{"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46", 8}, 0, FileKind::kTorchPickle},
};

FileKind KindOfZip(const ByteSource& file) {
  const auto entries = base::ReadZipDirectory(file, kMaxZipDirectory);
  if (!entries.ok()) return FileKind::kArchive;
  FileKind kind = FileKind::kArchive;
  for (const base::ZipEntry& entry : *entries) {
    const std::string_view name = entry.name;
    // TorchScript alone has constants; torch.save writes data.pkl only.
    if (name.ends_with("/constants.pkl")) return FileKind::kTorchScript;
    if (name.ends_with("/data.pkl")) kind = FileKind::kTorchPickle;
    if (name.ends_with("/archive_format") || name.ends_with("serialized_exported_program.json")) {
      return FileKind::kTorchExport;
    }
    if (name == "model.weights.h5") return FileKind::kKeras;
  }
  return kind;
}

/// Tells ONNX models, graphs and saved models by the fields of the outermost message:
///   ModelProto  ir_version 1 (number), producer_name 2, graph 7 (message)
///   GraphDef    node 1 (message), versions 4, library 2
///   SavedModel  saved_model_schema_version 1 (number), meta_graphs 2 (message)
FileContent ContentOfProto(const ByteSource& file) {
  bool first_is_number = false;
  bool first_is_message = false;
  bool has_meta_graph = false;
  bool has_graph = false;
  bool is_known = true;  // no field that none of them has
  int count = 0;
  const auto end = base::ScanFields(file, 0, file.size(), [&](const base::ScannedField& field) {
    const bool is_message = field.type == base::WireType::kLength;
    if (field.number == 1) (is_message ? first_is_message : first_is_number) = true;
    if (field.number == 2 && is_message) has_meta_graph = true;
    if (field.number == 7 && is_message) has_graph = true;
    is_known = is_known && field.number <= 32;
    return is_known && ++count < kMaxFields;
  });
  FileContent content;
  content.is_whole = end != base::ScanEnd::kCutOff;
  if (!is_known || end == base::ScanEnd::kMalformed || count == 0) return content;
  if (first_is_number && (has_graph || !content.is_whole)) {
    content.kind = FileKind::kOnnx;
  } else if (first_is_number && has_meta_graph) {
    content.kind = FileKind::kSavedModel;
  } else if (first_is_message && !first_is_number) {
    content.kind = FileKind::kGraphDef;
  }
  return content;
}

FileKind KindByName(std::string_view name, FileKind otherwise) {
  const std::string lower = base::ToLower(name);
  if (lower.ends_with(".py")) return FileKind::kPython;
  if (lower.ends_with(".pbtxt")) return FileKind::kConfig;
  if (lower.ends_with(".plan") || lower.ends_with(".engine")) return FileKind::kTensorRtPlan;
  if (lower.ends_with(".netdef")) return FileKind::kNetDef;
  return otherwise;
}

bool LooksLikeSafetensors(std::string_view name, std::string_view head) {
  return head.size() > 9 && head[8] == '{' && base::ToLower(name).ends_with(".safetensors");
}

/// Returns whether a name is that of a model in one of protobuf's formats, so that a message that
/// is cut off there is worth a word.
bool IsProtoName(std::string_view name) {
  const std::string lower = base::ToLower(name);
  return lower.ends_with(".onnx") || lower.ends_with(".pb") || lower.ends_with(".graphdef");
}

}  // namespace

FileContent ClassifyFile(std::string_view name, const ByteSource& file) {
  if (file.size() == 0) return {FileKind::kEmpty};
  const std::string head = file.Read(0, kHeadSize);
  if (head.empty()) return {FileKind::kUnreadable};
  const std::string_view view = head;
  for (const Magic& magic : kMagics) {
    if (view.size() >= magic.offset && view.substr(magic.offset).starts_with(magic.bytes)) {
      return {magic.kind};
    }
  }
  if (view.starts_with("PK\x03\x04")) return {KindOfZip(file)};
  const std::string lower = base::ToLower(view);
  const size_t text = lower.find_first_not_of(" \t\r\n");
  if (text != std::string::npos) {
    const std::string_view begin = std::string_view(lower).substr(text);
    if (begin.starts_with("<!doctype html") || begin.starts_with("<html")) return {FileKind::kHtml};
    if (begin.starts_with("<") && lower.find("<net ") != std::string::npos) {
      return {FileKind::kOpenVino};
    }
  }
  const FileKind named = KindByName(name, FileKind::kOther);
  if (named != FileKind::kOther) return {named};
  if (LooksLikeSafetensors(name, view)) return {FileKind::kSafetensors};
  // The protocols 2 to 5 of Python's pickles.
  if (view[0] == '\x80' && view.size() > 1 && view[1] >= 2 && view[1] <= 5) {
    return {FileKind::kPickle};
  }
  const FileContent content = ContentOfProto(file);
  if (!content.is_whole && !IsProtoName(name)) return {};
  return content;
}

std::string_view KindText(FileKind kind) {
  switch (kind) {
    case FileKind::kOther:
      return "";
    case FileKind::kUnreadable:
      return "a file that cannot be read";
    case FileKind::kEmpty:
      return "an empty file";
    case FileKind::kOnnx:
      return "an ONNX model";
    case FileKind::kGraphDef:
      return "a TensorFlow graph";
    case FileKind::kSavedModel:
      return "a TensorFlow saved model";
    case FileKind::kTorchScript:
      return "a TorchScript model";
    case FileKind::kTorchPickle:
      return "a state_dict or a pickled module, written by torch.save";
    case FileKind::kTorchExport:
      return "a package of torch.export";
    case FileKind::kOpenVino:
      return "an OpenVINO model";
    case FileKind::kPython:
      return "a Python source";
    case FileKind::kConfig:
      return "a configuration";
    case FileKind::kTensorRtPlan:
      return "a TensorRT plan";
    case FileKind::kNetDef:
      return "a Caffe2 net";
    case FileKind::kPickle:
      return "a pickle of Python objects";
    case FileKind::kHdf5:
      return "an HDF5 file, as Keras writes";
    case FileKind::kKeras:
      return "a Keras model";
    case FileKind::kSafetensors:
      return "a safetensors file, which has weights only";
    case FileKind::kTfLite:
      return "a TensorFlow Lite model";
    case FileKind::kGitLfsPointer:
      return "a pointer of git-lfs, not the file";
    case FileKind::kHtml:
      return "a web page";
    case FileKind::kArchive:
      return "an archive";
  }
  return "";
}

bool IsModel(FileKind kind) {
  switch (kind) {
    case FileKind::kOnnx:
    case FileKind::kGraphDef:
    case FileKind::kSavedModel:
    case FileKind::kTorchScript:
    case FileKind::kOpenVino:
    case FileKind::kPython:
    case FileKind::kTensorRtPlan:
    case FileKind::kNetDef:
      return true;
    default:
      return false;
  }
}

}  // namespace nereid::layout

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/byte_source.h"

namespace nereid::layout {

/// What a file contains, by its first bytes and its structure. Only files that are known by their
/// content alone depend on no name, except Python sources and configurations.
enum class FileKind : uint8_t {
  kOther,
  kUnreadable,
  kEmpty,
  kOnnx,
  kGraphDef,      // a frozen TensorFlow graph
  kSavedModel,    // the file saved_model.pb
  kTorchScript,   // torch.jit.save
  kTorchPickle,   // torch.save: a state_dict or a whole module, as a pickle that needs Python
  kTorchExport,   // torch.export.save or an AOTInductor package (.pt2)
  kOpenVino,      // the XML of OpenVINO
  kPython,        // by the ending .py
  kConfig,        // by the ending .pbtxt
  kTensorRtPlan,  // by the ending .plan or .engine
  kNetDef,        // a net of Caffe2, by the ending .netdef
  kPickle,        // a pickle of another library, for example scikit-learn
  kHdf5,          // Keras .h5
  kKeras,         // Keras .keras
  kSafetensors,
  kTfLite,
  kGitLfsPointer,
  kHtml,
  kArchive,  // zip, tar, gzip, bzip2, xz, zstd
};

struct FileContent {
  FileKind kind = FileKind::kOther;
  /// False if the file ends before its content does.
  bool is_whole = true;
};

/// Determines the content of a file. `name` is the last component of its path.
FileContent ClassifyFile(std::string_view name, const base::ByteSource& file);

/// Returns a noun for the kind with its article: "an ONNX model"; "" for kOther.
std::string_view KindText(FileKind kind);

/// Returns whether a backend reads files of this kind.
bool IsModel(FileKind kind);

}  // namespace nereid::layout

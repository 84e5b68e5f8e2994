// SPDX-License-Identifier: Apache-2.0
#include "layout/file_kind.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "layout/folder.h"

namespace nereid::layout {
namespace {

FileKind KindOf(const std::string& name, const std::string& content) {
  return ClassifyFile(name, base::StringSource(content)).kind;
}

/// Returns the entry of a file of the tests' models.
FolderEntry OfTests(const std::string& path) {
  const char* const source = std::getenv("NEREID_SOURCE_DIR");
  return LookAtFile(std::string(source == nullptr ? "." : source) + "/tests/data/" + path,
                    LastName(path));
}

TEST(FileKindTest, KnowsRealModels) {
  EXPECT_EQ(OfTests("pytorch/same/1/model.pt").content.kind, FileKind::kTorchScript);
  EXPECT_EQ(OfTests("tensorflow/savedmodels/linear/saved_model.pb").content.kind,
            FileKind::kSavedModel);
  EXPECT_EQ(OfTests("tensorflow/graphs/conv.graphdef").content.kind, FileKind::kGraphDef);
  const FolderEntry openvino = OfTests("openvino/mlp/model.xml");
  EXPECT_EQ(openvino.content.kind, FileKind::kOpenVino);
  EXPECT_TRUE(openvino.needs_weights);
}

TEST(FileKindTest, KnowsOtherFiles) {
  EXPECT_EQ(KindOf("model.onnx", ""), FileKind::kEmpty);
  EXPECT_EQ(KindOf("model.onnx", "version https://git-lfs.github.com/spec/v1\n"),
            FileKind::kGitLfsPointer);
  EXPECT_EQ(KindOf("model.onnx", " <!DOCTYPE HTML><html>"), FileKind::kHtml);
  EXPECT_EQ(KindOf("model.onnx", "\x1f\x8b\x08"), FileKind::kArchive);
  EXPECT_EQ(KindOf("a.tar", std::string(257, 'a') + "ustar"), FileKind::kArchive);
  EXPECT_EQ(KindOf("model.zip", "PK\x03\x04 cut off"), FileKind::kArchive);
  EXPECT_EQ(KindOf("model.pt", "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46"), FileKind::kTorchPickle);
  EXPECT_EQ(KindOf("model.pkl", "\x80\x04\x95"), FileKind::kPickle);
  EXPECT_EQ(KindOf("model.h5", "\x89HDF\r\n\x1a\n"), FileKind::kHdf5);
  EXPECT_EQ(KindOf("model.tflite", "....TFL3"), FileKind::kTfLite);
  EXPECT_EQ(KindOf("Model.PY", "x"), FileKind::kPython);
  EXPECT_EQ(KindOf("config.PBTXT", "x"), FileKind::kConfig);
  EXPECT_EQ(KindOf("labels.txt", "cat\ndog\n"), FileKind::kOther);
}

TEST(FileKindTest, TellsMessagesByTheirFields) {
  // ir_version 8, graph (field 7) of two bytes.
  EXPECT_EQ(KindOf("x", std::string("\x08\x08\x3a\x02xx", 6)), FileKind::kOnnx);
  const FileContent cut = ClassifyFile("model.onnx", base::StringSource("\x08\x08\x3a\x7fxx"));
  EXPECT_EQ(cut.kind, FileKind::kOnnx);
  EXPECT_FALSE(cut.is_whole);
  EXPECT_EQ(KindOf("notes.txt", "\x08\x08\x3a\x7fxx"), FileKind::kOther)
      << "a text may begin as a message";
  EXPECT_EQ(KindOf("x", "\x08\x01\x12\x02xx"), FileKind::kSavedModel);
  EXPECT_EQ(KindOf("x", "\x0a\x02xx\x0a\x02xx"), FileKind::kGraphDef);
}

}  // namespace
}  // namespace nereid::layout

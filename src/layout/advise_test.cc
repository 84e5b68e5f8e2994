// SPDX-License-Identifier: Apache-2.0
// The rules on folders that are made by hand. tests/layouts has whole cases, which a test follows.
#include "layout/advise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/parse/parse.h"

namespace nereid::layout {
namespace {

Folder Make(const std::map<std::string, FileKind>& files) {
  Folder folder;
  folder.name = "m";
  for (const auto& [path, kind] : files) {
    for (std::string_view parent = ParentOf(path); !parent.empty(); parent = ParentOf(parent)) {
      folder.entries[std::string(parent)].is_directory = true;
    }
    if (path.ends_with('/')) continue;
    folder.entries[path].size = 100;
    folder.entries[path].content.kind = kind;
  }
  return folder;
}

ModelFacts Facts(const std::string& config) {
  if (config.empty()) return {};
  const auto parsed = config::ParseModelConfigText(config, "test");
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return FactsOf(**parsed, true);
}

std::string Text(const std::optional<Advice>& advice) { return advice ? advice->Text() : ""; }

std::string OnFolder(const std::map<std::string, FileKind>& files, const std::string& config = "") {
  return Text(AdviseOnFolder(Make(files), Facts(config)));
}

std::string OnVersion(const std::map<std::string, FileKind>& files,
                      const std::string& config = "") {
  return Text(AdviseOnVersion(Make(files), Facts(config), 1));
}

constexpr FileKind kOnnx = FileKind::kOnnx;
constexpr FileKind kOther = FileKind::kOther;
const std::string kRuntime = "backend: \"onnxruntime\"";

TEST(AdviseTest, NothingAboutGoodModels) {
  EXPECT_EQ(OnFolder({{"1/model.onnx", kOnnx}}), "");
  EXPECT_EQ(OnVersion({{"1/rf.onnx", kOnnx}}, kRuntime + " default_model_filename: \"rf.onnx\""),
            "");
  EXPECT_EQ(OnVersion({{"1/model.savedmodel/saved_model.pb", FileKind::kSavedModel}}), "");
  EXPECT_EQ(OnVersion({{"1/model.xml", FileKind::kOpenVino}}, "backend: \"openvino\""), "");
  EXPECT_EQ(OnVersion({{"1/libmine.so", kOther}}, "backend: \"mine\""), "");
}

TEST(AdviseTest, NothingWhereNothingIsAModel) {
  EXPECT_EQ(OnFolder({}), "");
  EXPECT_EQ(OnFolder({{"notes.txt", kOther}, {"pictures/cat.png", kOther}}), "");
  EXPECT_EQ(OnFolder({{"tool.py", FileKind::kPython}}), "");
  EXPECT_FALSE(IsModelWithoutVersion(Make({{"notes.txt", kOther}}), {}));
  EXPECT_FALSE(IsModelWithoutVersion(Make({{"a/model.onnx", kOnnx}}), {}));
  EXPECT_FALSE(IsModelWithoutVersion(Make({{"model.onnx", kOnnx}, {"1/x", kOther}}), {}));
  EXPECT_TRUE(IsModelWithoutVersion(Make({{"model.onnx", kOnnx}}), {}));
}

TEST(AdviseTest, TheModelMovesWithWhatBelongsToIt) {
  Folder folder = Make({{"model.onnx", kOnnx}, {"weights.bin", kOther}, {"other.bin", kOther}});
  folder.entries["model.onnx"].external_data = {{"weights.bin", 8}};
  EXPECT_EQ(Text(AdviseOnFolder(folder, {})),
            "found 'm/model.onnx': move 'm/model.onnx' to 'm/1/model.onnx', then move "
            "'m/weights.bin' to 'm/1/weights.bin'");
  EXPECT_EQ(OnFolder({{"net.xml", FileKind::kOpenVino}, {"net.bin", kOther}}),
            "found 'm/net.xml': move 'm/net.xml' to 'm/1/model.xml', then move 'm/net.bin' to "
            "'m/1/model.bin'");
  EXPECT_EQ(OnFolder({{"saved_model.pb", FileKind::kSavedModel},
                      {"variables/variables.index", kOther},
                      {"labels.txt", kOther}}),
            "found 'm/saved_model.pb': move 'm/saved_model.pb' to "
            "'m/1/model.savedmodel/saved_model.pb', then move 'm/variables' to "
            "'m/1/model.savedmodel/variables'");
}

TEST(AdviseTest, ASavedModelIsADirectory) {
  const std::string kSaved = "platform: \"tensorflow_savedmodel\"";
  EXPECT_EQ(OnVersion({{"1/model.savedmodel", FileKind::kSavedModel}}, kSaved),
            "'m/1/model.savedmodel' is a file, and a saved model is a directory: rename "
            "'m/1/model.savedmodel' to 'm/1/saved_model.pb', then move 'm/1/saved_model.pb' to "
            "'m/1/model.savedmodel/saved_model.pb'");
  EXPECT_EQ(OnVersion({{"1/saved_model.pb", FileKind::kSavedModel},
                       {"1/variables/variables.index", kOther}},
                      kSaved + " default_model_filename: \"saved_model.pb\""),
            "'m/1/saved_model.pb' is a file, and a saved model is a directory: move "
            "'m/1/saved_model.pb' to 'm/1/model.savedmodel/saved_model.pb', then move "
            "'m/1/variables' to 'm/1/model.savedmodel/variables', then remove "
            "default_model_filename from 'm/config.pbtxt'");
  EXPECT_EQ(OnVersion({{"1/model.savedmodel", FileKind::kGraphDef}}, kSaved),
            "'m/1/model.savedmodel' is a TensorFlow graph: rename 'm/1/model.savedmodel' to "
            "'m/1/model.graphdef', then set platform: \"tensorflow_graphdef\" in "
            "'m/config.pbtxt'");
  EXPECT_EQ(OnVersion({{"1/model.savedmodel", kOther}}, kSaved),
            "'m/1/model.savedmodel' is a file, and a saved model is a directory: move "
            "'m/1/model.savedmodel' away, then copy 'm/1/model.savedmodel/saved_model.pb' from "
            "its source");
}

TEST(AdviseTest, ABackendIsNoPlatform) {
  const auto advise = [](const std::string& config) {
    return Text(AdviseOnBackend(Make({}), Facts(config)));
  };
  EXPECT_EQ(advise("platform: \"onnxruntime\""),
            "'onnxruntime' is the name of a backend, not of a platform: remove platform from "
            "'m/config.pbtxt', then set backend: \"onnxruntime\" in 'm/config.pbtxt'");
  EXPECT_EQ(advise("platform: \"onnx\""),
            "there is no platform 'onnx': remove platform from 'm/config.pbtxt', then set "
            "backend: \"onnxruntime\" in 'm/config.pbtxt'");
  EXPECT_EQ(advise("backend: \"tensorrtllm\""), "");
}

TEST(AdviseTest, SeveralModelsAreOffered) {
  EXPECT_EQ(OnVersion({{"1/a.onnx", kOnnx}, {"1/b.onnx", kOnnx}}, kRuntime),
            "found 'm/1/a.onnx' and 'm/1/b.onnx': rename 'm/1/a.onnx' to 'm/1/model.onnx', or set "
            "default_model_filename: \"a.onnx\" in 'm/config.pbtxt', or rename 'm/1/b.onnx' to "
            "'m/1/model.onnx', or set default_model_filename: \"b.onnx\" in 'm/config.pbtxt'");
}

TEST(AdviseTest, TheFileDecidesTheBackend) {
  const auto advise = [](const std::string& config) {
    return Text(AdviseOnBackend(Make({{"1/model.onnx", kOnnx}}), Facts(config)));
  };
  EXPECT_EQ(advise("backend: \"onnx\""),
            "found 'm/1/model.onnx': set backend: \"onnxruntime\" in 'm/config.pbtxt'");
  EXPECT_EQ(advise("platform: \"onnx\""),
            "found 'm/1/model.onnx': set platform: \"onnxruntime_onnx\" in 'm/config.pbtxt'");
  EXPECT_EQ(advise("platform: \"pytorch_libtorch\" backend: \"pytorch\""),
            "found 'm/1/model.onnx': set platform: \"onnxruntime_onnx\" in 'm/config.pbtxt', then "
            "set backend: \"onnxruntime\" in 'm/config.pbtxt'");
  const auto without_file = [](const std::string& config) {
    return Text(AdviseOnBackend(Make({}), Facts(config)));
  };
  EXPECT_EQ(without_file("backend: \"torch\""),
            "there is no backend 'torch': set backend: \"pytorch\" in 'm/config.pbtxt'");
  EXPECT_EQ(without_file("backend: \"onnxruntme\""),
            "there is no backend 'onnxruntme': set backend: \"onnxruntime\" in 'm/config.pbtxt'");
  EXPECT_EQ(without_file("backend: \"something_else\""), "");
}

TEST(AdviseTest, NamesAreShownSafely) {
  EXPECT_EQ(OnVersion({{"1/a\n\x1b.onnx", kOnnx}}, kRuntime),
            "found 'm/1/a\\x0a\\x1b.onnx': rename 'm/1/a\\x0a\\x1b.onnx' to 'm/1/model.onnx', or "
            "set default_model_filename: \"a\\x0a\\x1b.onnx\" in 'm/config.pbtxt'");
}

TEST(AdviseTest, FilesThatNoBackendReads) {
  const auto on_file = [](FileKind kind, const char* name) {
    FolderEntry entry;
    entry.content.kind = kind;
    return Text(AdviseOnFile(name, entry));
  };
  EXPECT_EQ(on_file(kOnnx, "m/1/model.onnx"), "");
  EXPECT_EQ(on_file(FileKind::kEmpty, "m/1/__init__"), "");
  EXPECT_EQ(on_file(FileKind::kTorchPickle, "m/1/model.pt"),
            "'m/1/model.pt' is a state_dict or a pickled module, written by torch.save: export the "
            "module with torch.jit.script(module).save(\"m/1/model.pt\")");
  for (const FileKind kind :
       {FileKind::kTorchExport, FileKind::kPickle, FileKind::kHdf5, FileKind::kKeras,
        FileKind::kSafetensors, FileKind::kTfLite, FileKind::kGitLfsPointer, FileKind::kHtml,
        FileKind::kArchive, FileKind::kUnreadable}) {
    EXPECT_NE(on_file(kind, "m/1/model.pt"), "") << KindText(kind);
  }
}

TEST(AdviseTest, FilesOutsideOfModels) {
  const auto stray = [](const char* name, FileKind kind) {
    FolderEntry entry;
    entry.content.kind = kind;
    return Text(AdviseOnStrayFile(name, entry));
  };
  EXPECT_EQ(stray("rf.onnx", kOnnx),
            "found 'rf.onnx' in the repository itself, where no model is looked for: move "
            "'rf.onnx' to 'rf/1/model.onnx'");
  EXPECT_EQ(stray("readme.md", kOther), "");
  EXPECT_EQ(stray("tool.py", FileKind::kPython), "");
  EXPECT_THAT(stray("m.zip", FileKind::kArchive), testing::HasSubstr("unpack 'm.zip' in 'm'"));
}

}  // namespace
}  // namespace nereid::layout

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "app/tools/init/model_files.h"
#include "app/tools/testing/golden.h"
#include "app/tools/tool.h"
#include "config/parse/parse.h"

namespace nereid::app::tools {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Writers of the parts of protobuf's wire format that the tests need.
std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string Number(uint32_t field, uint64_t value) { return Varint(field << 3) + Varint(value); }
std::string Bytes(uint32_t field, const std::string& body) {
  return Varint(field << 3 | 2) + Varint(body.size()) + body;
}

std::string OnnxDim(int64_t size) { return Bytes(1, Number(1, static_cast<uint64_t>(size))); }
std::string OnnxDim(const char* name) { return Bytes(1, Bytes(2, name)); }
std::string OnnxTensor(const std::string& name, uint64_t type, const std::string& dims) {
  return Bytes(1, name) + Bytes(2, Bytes(1, Number(1, type) + Bytes(2, dims)));
}
std::string Onnx(const std::string& graph) { return Number(1, 8) + Bytes(7, graph); }

class InitTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("nereid_init_test_" + std::to_string(getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string Write(const std::string& name, const std::string& content) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << content;
    return (root_ / name).string();
  }

  static ToolResult Init(std::vector<std::string> words) {
    ToolResult result = RunInit(words, {});
    if (result.exit_code == 0 && !result.out.empty()) {
      EXPECT_TRUE(config::ParseModelConfigText(result.out, "init").ok()) << result.out;
    }
    return result;
  }

  fs::path root_;
};

TEST_F(InitTest, ReadsInputsAndOutputsOfOnnx) {
  const std::string file =
      Write("model.onnx",
            Onnx(Bytes(5, Bytes(8, "weight")) +
                 Bytes(11, OnnxTensor("image", 1, OnnxDim("n") + OnnxDim(3) + OnnxDim("w"))) +
                 Bytes(11, OnnxTensor("weight", 1, OnnxDim(3))) +
                 Bytes(11, OnnxTensor("id", 7, OnnxDim("n"))) +
                 Bytes(12, OnnxTensor("label \"x\"", 8, OnnxDim(-1) + OnnxDim(1)))));
  const ToolResult result = Init({file});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.out, R"(# Made by nereid init from model.onnx.
backend: "onnxruntime"

# The first dimension of every tensor is variable. It is used as the batch; dims do not include it.
max_batch_size: 4

input [
  {
    name: "image"
    data_type: TYPE_FP32
    dims: [ 3, -1 ]
  },
  {
    name: "id"
    data_type: TYPE_INT64
    dims: [ 1 ]
    reshape { shape: [ ] }  # without the batch, the model's shape is empty
  }
]

output [
  {
    name: "label \"x\""
    data_type: TYPE_STRING
    dims: [ 1 ]
  }
]

# Requests that wait together share an execution.
dynamic_batching { }
)");
  EXPECT_THAT(Init({file, "--max-batch-size=32"}).out, HasSubstr("max_batch_size: 32\n"));
  const std::string single = Init({file, "--max-batch-size=1"}).out;
  EXPECT_THAT(single, testing::Not(HasSubstr("dynamic_batching")));
  const std::string unbatched = Init({file, "--max-batch-size", "0"}).out;
  EXPECT_THAT(unbatched, HasSubstr("# The model supports batches: to use them"));
  EXPECT_THAT(unbatched, HasSubstr("dims: [ -1, 3, -1 ]"));
}

TEST_F(InitTest, RecognizesModelsWithoutBatches) {
  const std::string file =
      Write("other.onnx", Onnx(Bytes(11, OnnxTensor("x", 16, OnnxDim(2) + OnnxDim("n"))) +
                               Bytes(12, OnnxTensor("y", 9, "")) +
                               Bytes(12, Bytes(1, "z") + Bytes(2, Bytes(4, "")))));
  EXPECT_EQ(Init({file}).out, R"(# Made by nereid init from other.onnx.
# Omitted: output 'z' is not a tensor, so the inference protocol cannot carry it.
backend: "onnxruntime"
default_model_filename: "other.onnx"

# Not every tensor has a variable first dimension, so requests cannot batch.
max_batch_size: 0

input [
  {
    name: "x"
    data_type: TYPE_BF16
    dims: [ 2, -1 ]
  }
]

output [
  {
    name: "y"
    data_type: TYPE_BOOL
    dims: [ 1 ]
  }
]
)");
  const ToolResult refused = Init({file, "--max-batch-size=2"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(refused.errors,
            "nereid init: the model does not support batches: not every input and output has a "
            "variable first dimension\n");
}

TEST_F(InitTest, RefusesFilesThatAreNotOnnx) {
  const auto error = [&](const std::string& content) {
    const ToolResult result = Init({Write("model.onnx", content)});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.out, "");
    return result.errors;
  };
  EXPECT_THAT(error("not a model"), HasSubstr("model.onnx: the file is not an ONNX model\n"));
  EXPECT_THAT(error(Bytes(7, "\xff")), HasSubstr("the file is not an ONNX model\n"));
  EXPECT_THAT(error(Onnx("")), HasSubstr("the ONNX model has no outputs\n"));
  EXPECT_THAT(error(Onnx(Bytes(11, OnnxTensor("x", 14, "")) + Bytes(12, OnnxTensor("y", 1, "")))),
              HasSubstr("input 'x' has ONNX element type 14, so the inference protocol cannot"));
  EXPECT_THAT(error(Onnx(Bytes(11, Bytes(1, "x")) + Bytes(12, OnnxTensor("y", 1, "")))),
              HasSubstr("input 'x' is not a tensor, so the inference protocol cannot carry it\n"));
  // No truncated file is accepted, and none is read beyond its end.
  const std::string good = Onnx(Bytes(11, OnnxTensor("x", 1, OnnxDim("n") + OnnxDim(3))) +
                                Bytes(12, OnnxTensor("y", 1, OnnxDim("n"))));
  for (size_t size = 0; size < good.size(); ++size) {
    ConfigDraft draft;
    EXPECT_FALSE(ReadOnnx(good.substr(0, size), &draft).ok()) << size;
  }
}

std::string TensorInfo(uint64_t type, const std::string& shape) {
  return Bytes(1, "node:0") + Number(2, type) + Bytes(3, shape);
}
std::string TensorFlowDim(int64_t size) { return Bytes(2, Number(1, static_cast<uint64_t>(size))); }
std::string Entry(uint32_t field, const std::string& key, const std::string& value) {
  return Bytes(field, Bytes(1, key) + Bytes(2, value));
}

TEST_F(InitTest, ReadsTheServingSignatureOfASavedModel) {
  const std::string serving = Entry(1, "x", TensorInfo(1, TensorFlowDim(-1) + TensorFlowDim(4))) +
                              Entry(2, "b", TensorInfo(9, TensorFlowDim(-1))) +
                              Entry(2, "a", TensorInfo(7, Number(3, 1)));
  const std::string other = Entry(1, "o", TensorInfo(3, "")) + Entry(2, "p", TensorInfo(3, ""));
  const std::string content =
      Bytes(2, Entry(5, "other", other) + Entry(5, "serving_default", serving) +
                   Entry(5, "__saved_model_init_op", ""));
  Write("saved/saved_model.pb", content);
  const ToolResult result = Init({(root_ / "saved/").string()});
  EXPECT_EQ(result.out, R"(# Made by nereid init from saved.
# Inputs and outputs of the signature 'serving_default'.
platform: "tensorflow_savedmodel"
default_model_filename: "saved"

# Not every tensor has a variable first dimension, so requests cannot batch.
max_batch_size: 0

input [
  {
    name: "x"
    data_type: TYPE_FP32
    dims: [ -1, 4 ]
  }
]

output [
  {
    name: "a"
    data_type: TYPE_STRING
    dims: [ -1 ]  # not in the file; correct it
  },
  {
    name: "b"
    data_type: TYPE_INT64
    dims: [ -1 ]
  }
]
)") << result.errors;
  Write("model.savedmodel/saved_model.pb", Bytes(2, Entry(5, "__saved_model_init_op", "")));
  EXPECT_THAT(Init({(root_ / "model.savedmodel").string()}).errors,
              HasSubstr("the saved model has no signature with outputs"));
}

std::string TorchScriptOfTests(const std::string& name) {
  const char* const source = std::getenv("NEREID_SOURCE_DIR");
  return std::string(source == nullptr ? "." : source) + "/tests/data/pytorch/" + name +
         "/1/model.pt";
}

TEST_F(InitTest, ReadsTheSignatureOfTorchScript) {
  EXPECT_EQ(Init({TorchScriptOfTests("by_argument")}).out, R"(# Made by nereid init from model.pt.
# A TorchScript file has no data types and dims of tensors: correct those below.
backend: "pytorch"

# Set this above 0 if the first dimension of every tensor is the batch, which dims do not include.
max_batch_size: 0

input [
  {
    name: "first"
    data_type: TYPE_FP32  # not in the file; correct it
    dims: [ -1 ]  # not in the file; correct it
  },
  {
    name: "second"
    data_type: TYPE_FP32  # not in the file; correct it
    dims: [ -1 ]  # not in the file; correct it
  }
]

output [
  {
    name: "OUTPUT__0"
    data_type: TYPE_FP32  # not in the file; correct it
    dims: [ -1 ]  # not in the file; correct it
  },
  {
    name: "OUTPUT__1"
    data_type: TYPE_FP32  # not in the file; correct it
    dims: [ -1 ]  # not in the file; correct it
  }
]
)");
  EXPECT_THAT(Init({TorchScriptOfTests("keeps")}).out,
              HasSubstr("# The module keeps state between calls (last), which all clients share"));
  EXPECT_THAT(Init({TorchScriptOfTests("dictionary_in")}).out,
              HasSubstr("name: \"KEY\"  # an example; replace it\n"));
  const std::string mixed = Init({TorchScriptOfTests("mixed")}).out;
  EXPECT_THAT(mixed, HasSubstr("# Omitted: result 3 of forward has the type List[Tensor]"));
  EXPECT_THAT(mixed, HasSubstr("name: \"OUTPUT__2\""));
  const std::string defaults = Init({TorchScriptOfTests("defaults")}).out;
  EXPECT_THAT(defaults, HasSubstr("# forward has a default for it; it may be left out.\n    name: "
                                  "\"bias\""));
  EXPECT_THAT(Init({TorchScriptOfTests("no_forward")}).errors,
              HasSubstr("the TorchScript module has no method forward"));
  EXPECT_THAT(Init({Write("model.pt", "x")}).errors, HasSubstr("no ZIP archive"));
}

TEST_F(InitTest, SaysWhatToDoAboutFilesThatAreNoModels) {
  EXPECT_THAT(Init({Write("model.pt", "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46")}).errors,
              HasSubstr("is a state_dict or a pickled module, written by torch.save: export the "
                        "module with torch.jit.script(module).save("));
  EXPECT_THAT(Init({Write("model.onnx", "")}).errors, HasSubstr("is an empty file: copy"));
  EXPECT_THAT(Init({Write("model.onnx", "version https://git-lfs.github.com/spec/v1\n")}).errors,
              HasSubstr("run 'git lfs pull' in the repository of"));
}

TEST_F(InitTest, ReadsInputsAndOutputsOfOpenVino) {
  const std::string file = Write("model.xml", R"(<?xml version="1.0"?>
<!-- <net> --><net name="n" version="11"><layers>
  <layer id="0" name="a" type="Parameter"><data shape="?,4"/><output>
    <port id="0" precision="FP32" names="x&lt;1&gt;,other"><dim>-1</dim><dim>4</dim></port></output></layer>
  <layer id="1" type="Parameter"><output><port id="0" precision="I64"/></output></layer>
  <layer id="2" type="Loop"><body><layers><layer id="0" type="Result"><input><port id="0"/></input></layer>
    </layers></body><output><port id="3" precision="STRING" names="y\,1"><dim>2</dim></port></output></layer>
  <layer id="3" type="Result"><input><port id="0" precision="STRING"><dim>2</dim></port></input></layer>
  <layer id="4" type="Result" output_names="z"><input><port id="0" precision="BOOL"/></input></layer>
</layers><edges><edge from-layer="2" from-port="3" to-layer="3" to-port="0"/></edges></net>)");
  const ToolResult result = Init({file});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  ExpectGolden(base::testing::SourceDirectory() + "/src/app/tools/golden/init_openvino.pbtxt",
               result.out);
}

TEST_F(InitTest, ReadsTensorsOfAnyRank) {
  const std::string unknown = "dims: [ -1 ]  # not in the file; correct it\n";
  const std::string onnx = Onnx(Bytes(11, Bytes(1, "x") + Bytes(2, Bytes(1, Number(1, 1)))) +
                                Bytes(12, OnnxTensor("y", 1, "")));
  const std::string drafted = Init({Write("model.onnx", onnx)}).out;
  EXPECT_THAT(drafted, HasSubstr("name: \"x\"\n    data_type: TYPE_FP32\n    " + unknown));
  EXPECT_THAT(drafted, HasSubstr("name: \"y\"\n    data_type: TYPE_FP32\n    dims: [ 1 ]\n"));

  const std::string info = Bytes(1, "node:0") + Number(2, 1);  // without a shape
  Write("saved/saved_model.pb",
        Bytes(2, Entry(5, "serving_default",
                       Entry(1, "x", info) + Entry(2, "y", info + Bytes(3, "")))));
  const std::string saved = Init({(root_ / "saved").string()}).out;
  EXPECT_THAT(saved, HasSubstr("name: \"x\"\n    data_type: TYPE_FP32\n    " + unknown));
  EXPECT_THAT(saved, HasSubstr("name: \"y\"\n    data_type: TYPE_FP32\n    dims: [ 1 ]\n"));

  const std::string ir = Init({Write("model.xml", R"(<net><layers>
  <layer id="0" type="Parameter"><data shape="..."/><output><port id="0" precision="FP32" names="x"/></output></layer>
  <layer id="1" type="Parameter"><data shape=""/><output><port id="0" precision="FP32" names="s"/></output></layer>
  <layer id="2" type="Result" output_names="y"><input><port id="0" precision="FP32"/></input></layer>
</layers></net>)")})
                             .out;
  EXPECT_THAT(ir, HasSubstr("name: \"x\"\n    data_type: TYPE_FP32\n    " + unknown));
  EXPECT_THAT(ir, HasSubstr("name: \"s\"\n    data_type: TYPE_FP32\n    dims: [ 1 ]\n"));
  EXPECT_THAT(ir, HasSubstr("name: \"y\"\n    data_type: TYPE_FP32\n    " + unknown));
}

TEST_F(InitTest, RefusesWhatIsNoIr) {
  const std::string layer = "<net><layers><layer id='0' type='Result'><input><port precision='";
  for (const std::string& text :
       {std::string("<html></html>"), std::string("<net"), std::string("<net></net>"),
        std::string("<net a=\"><layers>"), layer + "U4'/></input></layer></layers></net>",
        "<net>" + std::string(100'000, '<'), [] {
          std::string deep = "<net>";
          for (int i = 0; i < 2000; ++i) deep += "<a>";
          return deep;
        }()}) {
    const ToolResult result = Init({Write("model.xml", text)});
    EXPECT_EQ(result.exit_code, 1) << text.substr(0, 100);
    EXPECT_THAT(result.errors, HasSubstr("model.xml")) << text.substr(0, 100);
  }
}

TEST_F(InitTest, WritesExamplesForOtherFormats) {
  EXPECT_THAT(Init({Write("model.netdef", "x")}).out,
              HasSubstr("name: \"INPUT0\"  # an example; replace it\n"));
  EXPECT_THAT(Init({Write("model.py", "x")}).out, HasSubstr("backend: \"python\"\n"));
  EXPECT_THAT(Init({Write("model.graphdef", "x")}).out,
              HasSubstr("platform: \"tensorflow_graphdef\"\n"));
  const std::string own =
      Init({Write("weights.bin", "x"), "--backend=mine", "--max-batch-size=8"}).out;
  EXPECT_THAT(own, HasSubstr("backend: \"mine\"\ndefault_model_filename: \"weights.bin\"\n"));
  EXPECT_THAT(own, HasSubstr("max_batch_size: 8\n"));
}

TEST_F(InitTest, WritesToANewFile) {
  const std::string model = Write("model.py", "x");
  const std::string to = (root_ / "config.pbtxt").string();
  EXPECT_EQ(Init({model, "-o", to}).exit_code, 0);
  EXPECT_EQ(*base::ReadFile(to), Init({model}).out);
  EXPECT_EQ(Init({model, "--output", to}).errors, "nereid init: " + to +
                                                      " exists; --force overwrites it\n"
                                                      "See nereid init --help.\n");
  EXPECT_EQ(Init({model, "--output", to, "--force"}).exit_code, 0);
  EXPECT_EQ(Init({model, "-o", "/no/such/folder/config.pbtxt"}).exit_code, 2);
}

TEST_F(InitTest, ReportsWhyItCannotRun) {
  const auto error = [](const std::vector<std::string>& words, int code) {
    const ToolResult result = Init(words);
    EXPECT_EQ(result.exit_code, code);
    EXPECT_EQ(result.out, "");
    return result.errors.substr(0, result.errors.find('\n'));
  };
  const std::string file = Write("weights.bin", "");
  EXPECT_EQ(error({}, 2), "nereid init: expected one model file");
  EXPECT_EQ(error({"/no/such"}, 2), "nereid init: no such file: /no/such");
  EXPECT_EQ(error({file}, 1),
            "nereid init: the file name 'weights.bin' does not determine the backend; set it with "
            "--backend");
  EXPECT_THAT(error({file, "--backend=b", "--max-batch-size=x"}, 2),
              testing::StartsWith("nereid init: --max-batch-size: "));
  Write("d.onnx/x", "");
  EXPECT_THAT(error({(root_ / "d.onnx").string()}, 1),
              testing::EndsWith("d.onnx/model.onnx: No such file or directory"));
}

}  // namespace
}  // namespace nereid::app::tools

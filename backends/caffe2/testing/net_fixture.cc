// SPDX-License-Identifier: Apache-2.0
#include "caffe2/testing/net_fixture.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "nereid/backend/data_type.h"

namespace nereid::caffe2::testing {
namespace {

namespace fs = std::filesystem;

void Write(const fs::path& path, const std::string& content) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

}  // namespace

NetTest::NetTest() {
  std::string pattern = (fs::temp_directory_path() / "caffe2_test_XXXXXX").string();
  folder_ = ::mkdtemp(pattern.data());
  const char* build = std::getenv("NEREID_BUILD_DIR");
  server_.backend().name = "caffe2";
  server_.backend().directory = std::string(build == nullptr ? "." : build) + "/backends/caffe2";
  server_.model().directory = folder_;
}

NetTest::~NetTest() { fs::remove_all(folder_); }

void NetTest::WriteFiles(const std::string& init, const std::string& predict) {
  Write(fs::path(folder_) / "1" / "init_model.netdef", init);
  Write(fs::path(folder_) / "1" / "model.netdef", predict);
}

std::string NetTest::LoadFiles(const std::string& config) {
  server_.model().name = "net";
  server_.model().config = R"({"name":"net","backend":"caffe2")" +
                           (config.empty() ? "" : "," + config) +
                           R"(,"parameters":{"intra_op_thread_count":{"string_value":"1"}}})";
  server_.model().auto_complete = true;
  return server_.Load();
}

std::string NetTest::InputsText(const std::vector<NetInput>& inputs) {
  std::string text = R"("input":[)";
  for (const NetInput& input : inputs) {
    const std::string type = input.type == Type::kString ? "STRING" : TypeText(input.type);
    text += (&input == &inputs[0] ? "" : ",") + (R"({"name":")" + input.name) +
            R"(","data_type":"TYPE_)" + type + R"(","dims":)" +
            (input.shape.empty() ? R"([1],"reshape":{"shape":[]})" : ShapeText(input.shape)) + "}";
  }
  return text + "]";
}

std::string NetTest::Load(const NetCase& net) {
  WriteFiles(net.nets.init.SerializeAsString(), net.nets.predict.SerializeAsString());
  // A batch size of 0 stays 0, so that the dimensions are those of the case.
  server_.backend().config = R"({"cmdline":{"default-max-batch-size":"0"}})";
  return LoadFiles(InputsText(net.inputs));
}

std::string NetTest::RunWithOnes(const NetCase& net) {
  TRITONBACKEND_Request request;
  for (const NetInput& input : net.inputs) {
    Shape shape = input.shape.empty() ? Shape{1} : input.shape;
    std::replace(shape.begin(), shape.end(), int64_t{-1}, int64_t{2});
    const auto count = static_cast<size_t>(backend::ElementCount(shape));
    std::string one(TypeSize(input.type), '\0');
    if (input.type == Type::kFloat) {
      const float value = 1;
      one.assign(reinterpret_cast<const char*>(&value), sizeof value);
    } else if (input.type != Type::kDouble && input.type != Type::kHalf) {
      one[0] = 1;
    }
    std::string bytes;
    for (size_t i = 0; i < count; ++i) {
      bytes += one;
    }
    request.AddRaw(input.name,
                   backend::DataTypeFromConfig(std::string("TYPE_") + TypeText(input.type)), shape,
                   bytes);
  }
  for (const std::string& output : net.nets.predict.external_output()) {
    if (std::find(request.outputs.begin(), request.outputs.end(), output) ==
        request.outputs.end()) {
      request.outputs.push_back(output);
    }
  }
  if (const std::string failure = server_.Execute({&request}); !failure.empty()) {
    return failure;
  }
  return request.Answer().message;
}

}  // namespace nereid::caffe2::testing

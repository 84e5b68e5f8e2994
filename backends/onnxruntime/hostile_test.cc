// SPDX-License-Identifier: Apache-2.0
// Requests that a broken server might let through: whatever they hold, each gets one answer.
#include <algorithm>
#include <random>

#include "nereid/backend/data_type.h"
#include "onnxruntime/onnx_fixture.h"

namespace nereid::onnxruntime {
namespace {

using backend::testing::BytesTensor;

TRITONSERVER_DataType UsualType(const std::string& model) {
  if (model == "exclaim" || model == "copy_string") {
    return TRITONSERVER_TYPE_BYTES;
  }
  return model == "gather" || model == "scalar" ? TRITONSERVER_TYPE_INT64 : TRITONSERVER_TYPE_FP32;
}

class HostileTest : public OnnxTest, public ::testing::WithParamInterface<const char*> {
 protected:
  int Pick(int most) { return static_cast<int>(random_() % static_cast<unsigned>(most + 1)); }

  /// Mostly of the right type, with a shape that is often right and content that mostly fits it.
  void AddInput(const std::string& name, TRITONSERVER_DataType usual,
                TRITONBACKEND_Request* request) {
    static const TRITONSERVER_DataType kTypes[] = {TRITONSERVER_TYPE_INVALID,
                                                   TRITONSERVER_TYPE_FP32, TRITONSERVER_TYPE_INT64,
                                                   TRITONSERVER_TYPE_BYTES};
    static const int64_t kOdd[] = {0, -1, INT64_MAX, INT64_MIN, 1 << 20};
    static const int64_t kWidths[] = {1, 4, 64, 3};
    const TRITONSERVER_DataType type = Pick(9) == 0 ? kTypes[Pick(3)] : usual;
    std::vector<int64_t> shape = {1 + Pick(2)};
    if (Pick(5) != 0) {
      shape.push_back(kWidths[Pick(3)]);
    }
    if (Pick(9) == 0) {
      shape[static_cast<size_t>(Pick(static_cast<int>(shape.size()) - 1))] = kOdd[Pick(4)];
    }
    std::string bytes;
    if (int64_t count = backend::ElementCount(shape); count >= 0 && count < 1000) {
      for (; count > 0; --count) {
        bytes +=
            type == TRITONSERVER_TYPE_BYTES
                ? BytesTensor({std::string(static_cast<size_t>(Pick(3)), 'a')})
                : std::string(1, static_cast<char>(Pick(4))) +
                      std::string(std::max(1u, TRITONSERVER_DataTypeByteSize(usual)) - 1, '\0');
      }
    }
    if (Pick(9) == 0) {
      bytes.resize(static_cast<size_t>(Pick(300)));
    }
    auto& input = request->AddRaw(name, type, std::move(shape), bytes);
    switch (Pick(19)) {
      case 0:
        input.byte_size = random_();
        break;
      case 1:
        input.pieces.emplace_back(static_cast<size_t>(Pick(9)), 'x');
        break;
      case 2:
        input.pieces.clear();
        break;
      default:
        break;
    }
  }

  std::mt19937 random_{20240607};
};

TEST_P(HostileTest, EveryRequestGetsOneAnswer) {
  ASSERT_EQ(LoadComplete(GetParam()), "");
  const TRITONSERVER_DataType usual = UsualType(GetParam());
  int answered = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<TRITONBACKEND_Request> requests(static_cast<size_t>(1 + Pick(3)));
    std::vector<TRITONBACKEND_Request*> pointers;
    for (auto& request : requests) {
      for (const char* name : {"x", "index", "state"}) {
        if (Pick(9) != 0) {
          AddInput(name, usual, &request);
        }
      }
      request.outputs = {Pick(19) == 0 ? "nothing" : "y"};
      pointers.push_back(&request);
    }
    ASSERT_EQ(server_.Execute(pointers), "");
    for (auto& request : requests) {
      answered += request.Answer().failed ? 0 : 1;
    }
  }
  EXPECT_GT(answered, 0);  // else the requests were too wrong to reach the model
}

INSTANTIATE_TEST_SUITE_P(Models, HostileTest,
                         ::testing::Values("mlp", "copy_fp32", "copy_string", "gather", "scalar",
                                           "accumulate", "transpose", "promise", "drop_rows",
                                           "exclaim"));

}  // namespace
}  // namespace nereid::onnxruntime

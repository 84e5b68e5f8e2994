// SPDX-License-Identifier: Apache-2.0
// SequenceStates whose backend keeps them in GPU memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "base/byte_budget.h"
#include "memory/gpu/gpu_pools.h"
#include "memory/gpu/testing/gpu_bytes.h"
#include "request/inference_request.h"
#include "request/sequence_states.h"
#include "request/testing/make_states.h"

namespace nereid::request {
namespace {

using memory::GpuPools;
using memory::MemoryType;
using tensor::DataType;
using ::testing::Each;
using ::testing::ElementsAre;

using Values = std::vector<int32_t>;

Values ToValues(const std::string& bytes) {
  Values values(bytes.size() / 4);
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

class SequenceStatesGpuTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(memory::HasFakeGpus()); }
  void TearDown() override {
    states_.reset();
    for (const auto& [gpu, use] : GpuPools::Get().GpuUses()) EXPECT_EQ(use.used_bytes, 0u);
    GpuPools::Get().Trim();
    GpuPools::Get().Configure({});
  }

  void Use(const std::string& dims, const std::string& more = "",
           const std::string& type = "INT32") {
    inputs_ = MakeSequenceInputs(StateText(type, dims, more));
    states_ = inputs_->NewStates();
    ASSERT_TRUE(states_->Reset().ok());
  }

  /// The state as the next request gets it.
  InputPiece Piece() const {
    InferenceRequest request;
    states_->AddTo(request.inputs());
    return request.inputs().Find("S_IN")->pieces.at(0);
  }
  Values Input() const {
    const InputPiece piece = Piece();
    return ToValues(piece.memory_type == MemoryType::kGpu ? memory::ReadGpu(piece.data, piece.size)
                                                          : std::string(piece.data, piece.size));
  }
  /// Returns a new value of `count` elements, without content.
  OutputState* NewValue(size_t count, StatePlace preferred = 0) {
    auto output = states_->NewOutput("S_OUT", DataType::kInt32, {1, static_cast<int64_t>(count)});
    EXPECT_TRUE(output.ok()) << output.status().message();
    const auto buffer = states_->Buffer(*output, count * 4, preferred);
    EXPECT_TRUE(buffer.ok()) << buffer.status().message();
    return *output;
  }
  /// Executes a request that writes these values.
  void Execute(const Values& values, StatePlace preferred = 0) {
    OutputState* const output = NewValue(values.size(), preferred);
    const std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * 4);
    if (output->place) {
      memory::WriteGpu(output->data, bytes);
    } else {
      std::memcpy(output->data, bytes.data(), bytes.size());
    }
    ASSERT_TRUE(states_->Update(output).ok());
    states_->Commit();
  }
  static Values Content(const OutputState& output) {
    return ToValues(output.place ? memory::ReadGpu(output.data, output.size)
                                 : std::string(output.data, output.size));
  }

  std::shared_ptr<SequenceInputs> inputs_;
  std::shared_ptr<SequenceStates> states_;
};

TEST_F(SequenceStatesGpuTest, AValueThatWasWrittenOnTheGpuStaysThere) {
  Use("[ 2 ]");
  EXPECT_EQ(Piece().memory_type, MemoryType::kCpu) << "the initial value";
  Execute({1, 2});
  const InputPiece piece = Piece();
  EXPECT_EQ(piece.memory_type, MemoryType::kGpu);
  EXPECT_EQ(piece.memory_type_id, 0);
  EXPECT_THAT(Input(), ElementsAre(1, 2));
  Execute({3, 4});
  const InputPiece second = Piece();
  Execute({5, 6});
  EXPECT_EQ(Piece().data, piece.data) << "two buffers take turns";
  EXPECT_NE(second.data, piece.data);
  EXPECT_THAT(Input(), ElementsAre(5, 6));
}

TEST_F(SequenceStatesGpuTest, AttributesTellThePlace) {
  Use("[ 2 ]");
  OutputState* const output = NewValue(2);
  const auto attributes = states_->Attributes(output);
  ASSERT_TRUE(attributes.ok());
  EXPECT_EQ((*attributes)->memory_type, MemoryType::kGpu);
  EXPECT_EQ((*attributes)->memory_type_id, 0);
  EXPECT_EQ((*attributes)->byte_size, 8u);
}

TEST_F(SequenceStatesGpuTest, AFailureLeavesTheOldValue) {
  Use("[ 1 ]");
  Execute({7});
  memory::WriteGpu(NewValue(1)->data, "xxxx");
  states_->Discard();
  EXPECT_THAT(Input(), ElementsAre(7));
}

TEST_F(SequenceStatesGpuTest, TheNextSequenceDoesNotSeeTheBytes) {
  Use("[ 2 ]");
  Execute({7, 7});
  Execute({8, 8});
  ASSERT_TRUE(states_->Reset().ok());
  EXPECT_THAT(Input(), ElementsAre(0, 0));
  for (int i = 0; i < 3; ++i) {
    OutputState* const output = NewValue(2);
    EXPECT_TRUE(output->place);
    EXPECT_THAT(Content(*output), Each(0)) << "before the model has written";
    ASSERT_TRUE(states_->Update(output).ok());
    states_->Commit();
  }
}

TEST_F(SequenceStatesGpuTest, NewMemoryIsCleared) {
  // What an earlier owner has left in the pool.
  (void)memory::OnGpu(0, std::string(4096, 'x'));
  Use("[ -1 ]");
  EXPECT_THAT(Content(*NewValue(100)), Each(0));
}

TEST_F(SequenceStatesGpuTest, OneBufferMovesToTheGpuWithItsBytes) {
  Use("[ 2 ]", "use_same_buffer_for_input_output: true");
  Execute({1, 2}, std::nullopt);
  OutputState* const moved = NewValue(2);
  EXPECT_TRUE(moved->place);
  EXPECT_THAT(Content(*moved), ElementsAre(1, 2));
  ASSERT_TRUE(states_->Update(moved).ok());
  states_->Commit();
  const char* const data = Piece().data;
  OutputState* const same = NewValue(2);
  EXPECT_EQ(same->data, data) << "from then on it is the input's memory";
  states_->Discard();
  EXPECT_THAT(Input(), ElementsAre(1, 2));
}

TEST_F(SequenceStatesGpuTest, GrowableMemoryStaysWhereItIs) {
  Use("[ -1 ]", "use_same_buffer_for_input_output: true use_growable_memory: true");
  Execute({1});
  const char* const data = Piece().data;
  Values values = {1};
  for (int i = 2; i < 10; ++i) {
    values.push_back(i);
    Execute(values);
    EXPECT_EQ(Piece().data, data);
  }
  const size_t large = (size_t{3} << 20) / 4;
  OutputState* const grown = NewValue(large);
  EXPECT_EQ(grown->data, data);
  const Values content = Content(*grown);
  EXPECT_EQ(Values(content.begin(), content.begin() + 9), values);
  EXPECT_EQ(std::count(content.begin() + 9, content.end(), 0), int64_t(large - 9));
  ASSERT_TRUE(states_->Update(grown).ok());
  states_->Commit();
  ASSERT_TRUE(states_->Reset().ok());
  Execute({5});
  EXPECT_EQ(Piece().data, data) << "the next sequence uses it again";
  EXPECT_THAT(Input(), ElementsAre(5));
  EXPECT_THAT(Content(*NewValue(3)), ElementsAre(5, 0, 0));
}

TEST_F(SequenceStatesGpuTest, GrowableMemoryEndsAtTheReservedAddresses) {
  memory::GpuMemorySettings settings;
  settings.address_bytes = {{0, 1}};
  GpuPools::Get().Configure(settings);
  Use("[ -1 ]", "use_same_buffer_for_input_output: true use_growable_memory: true");
  Execute({1});
  const size_t count = (size_t{2} << 20) / 4 + 1;
  auto output = states_->NewOutput("S_OUT", DataType::kInt32, {1, int64_t(count)});
  EXPECT_EQ(states_->Buffer(*output, count * 4, 0).status().message(),
            "state 'S_OUT' of model 'm': growable memory on GPU 0 can have 2097152 bytes, but "
            "2097156 are needed. --cuda-virtual-address-size=0:BYTES allows more");
}

TEST_F(SequenceStatesGpuTest, WithoutGpuMemoryStatesAreOnTheHost) {
  memory::GpuMemorySettings settings;
  settings.pool_bytes = {{0, 0}};
  GpuPools::Get().Configure(settings);
  for (const char* const more : {"", "use_same_buffer_for_input_output: true"}) {
    Use("[ 2 ]", more);
    Execute({1, 2});
    EXPECT_EQ(Piece().memory_type, MemoryType::kCpu);
    Execute({3, 4});
    EXPECT_THAT(Input(), ElementsAre(3, 4));
  }
}

TEST_F(SequenceStatesGpuTest, StringsAndEventLoopsGetHostMemory) {
  Use("[ 1 ]", "", "STRING");
  auto output = states_->NewOutput("S_OUT", DataType::kBytes, {1, 1});
  ASSERT_TRUE(states_->Buffer(*output, 8, 0).ok());
  EXPECT_FALSE((*output)->place);
  Use("[ 1 ]");
  std::thread loop([&] {
    base::ForbidBlocking();
    EXPECT_FALSE(NewValue(1)->place);
  });
  loop.join();
}

TEST_F(SequenceStatesGpuTest, ADriverThatFailsDoesNotLoseTheValue) {
  Use("[ 1 ]");
  Execute({7});
  for (const char* const function : {"cuMemsetD8Async=1", "cuStreamSynchronize=1"}) {
    Use("[ 1 ]");
    const memory::ScopedGpuFailure failure(function);
    Execute({9});  // in host memory
    EXPECT_THAT(Input(), ElementsAre(9)) << function;
  }
}

}  // namespace
}  // namespace nereid::request

// SPDX-License-Identifier: Apache-2.0
#include "python/segment_uses.h"

#include <gmock/gmock.h>

#include <string>

namespace nereid::python {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr uint64_t kSize = 100'000;

class SegmentUsesTest : public ::testing::Test {
 protected:
  SegmentUsesTest() {
    EXPECT_TRUE(segments_.pool.Take(kSize, &taken_).ok());
    tensor_.data_type = TRITONSERVER_TYPE_UINT8;
    tensor_.segment = taken_.id;
    tensor_.size = kSize;
  }

  Segments segments_{uint64_t{64} << 20};
  TakenSegment taken_;
  WireTensor tensor_;
};

TEST_F(SegmentUsesTest, ATensorOutsideOfItsSegmentIsRefused) {
  tensor_.size = 16;
  tensor_.offset = taken_.memory->size() - 16;
  WireTensor unknown = tensor_;
  unknown.segment = kWorkerSegment + 1;
  SegmentUses uses(&segments_, {}, true);
  uses.Add({tensor_, unknown});
  char out[16];
  EXPECT_TRUE(uses.Copy(tensor_, {out}).ok());
  for (const uint64_t offset : {taken_.memory->size() - 15, UINT64_MAX - 8}) {
    tensor_.offset = offset;
    EXPECT_THAT(uses.Copy(tensor_, {out}).message(), HasSubstr("shared memory"));
    EXPECT_FALSE(uses.Check(tensor_).ok());
    tensor_.size = kSize;
    TensorContent content;
    EXPECT_FALSE(uses.Lend(tensor_, &content));
    tensor_.size = 16;
  }
  EXPECT_FALSE(uses.Copy(unknown, {out}).ok());
}

TEST_F(SegmentUsesTest, ASegmentIsReadOnceHoweverManyTensorsItHas) {
  WireTensor unknown = tensor_;
  unknown.segment = kWorkerSegment + 1;
  {
    SegmentUses uses(&segments_, {}, true);
    uses.Add({tensor_, tensor_});
    uses.Add({tensor_, unknown});
    EXPECT_THAT(segments_.read->Take(), IsEmpty());
  }
  EXPECT_THAT(segments_.read->Take(), UnorderedElementsAre(taken_.id, kWorkerSegment + 1));
}

TEST_F(SegmentUsesTest, ALentSegmentIsReadWhenTheLastResponseIsGone) {
  TensorContent first;
  TensorContent second;
  {
    SegmentUses uses(&segments_, {}, true);
    uses.Add({tensor_});
    ASSERT_TRUE(uses.Lend(tensor_, &first));
    ASSERT_TRUE(uses.Lend(tensor_, &second));
    EXPECT_EQ(first.data, taken_.memory->data());
  }
  EXPECT_THAT(segments_.read->Take(), IsEmpty());
  first.owner.reset();
  EXPECT_THAT(segments_.read->Take(), IsEmpty());
  second.owner.reset();
  EXPECT_THAT(segments_.read->Take(), ElementsAre(taken_.id));
}

TEST_F(SegmentUsesTest, ALentBlockIsReadAtOnceAndStays) {
  std::shared_ptr<InputArena> arena;
  ASSERT_EQ(InputArena::Create(&arena).message(), "");
  TakenSegment block;
  ASSERT_TRUE(segments_.pool.TakeBlock(arena->Take(kSize), &block));
  const char* const place = block.block->data();
  block.block.reset();
  tensor_.segment = block.id;
  TensorContent content;
  {
    SegmentUses uses(&segments_, {}, true);
    uses.Add({tensor_});
    ASSERT_TRUE(uses.Lend(tensor_, &content));
  }
  EXPECT_THAT(segments_.read->Take(), ElementsAre(block.id));
  EXPECT_TRUE(segments_.pool.Free(block.id));
  EXPECT_NE(arena->Find(place, kSize), nullptr) << "the response has it";
  content.owner.reset();
  EXPECT_EQ(arena->Find(place, kSize), nullptr);
  EXPECT_EQ(arena->Take(kSize)->data(), place);
}

TEST_F(SegmentUsesTest, SmallTensorsStringsAndInputsOfSendersAreCopied) {
  TensorContent content;
  SegmentUses uses(&segments_, {}, false);
  uses.Add({tensor_});
  EXPECT_FALSE(uses.Lend(tensor_, &content)) << "a sender's model can still change its input";
  SegmentUses results(&segments_, {}, true);
  results.Add({tensor_});
  WireTensor other = tensor_;
  other.data_type = TRITONSERVER_TYPE_BYTES;
  EXPECT_FALSE(results.Lend(other, &content));
  other = tensor_;
  other.size = 1000;
  EXPECT_FALSE(results.Lend(other, &content));
  EXPECT_TRUE(results.Lend(tensor_, &content));
}

TEST_F(SegmentUsesTest, WhatIsLentHasALimit) {
  Segments small(kSize * 5);
  TakenSegment taken;
  ASSERT_TRUE(small.pool.Take(kSize, &taken).ok());
  WireTensor first = tensor_;
  first.segment = taken.id;
  WireTensor second = tensor_;
  TakenSegment another;
  ASSERT_TRUE(small.pool.Take(kSize, &another).ok());
  second.segment = another.id;
  TensorContent content;
  {
    SegmentUses uses(&small, {}, true);
    uses.Add({first, second});
    ASSERT_TRUE(uses.Lend(first, &content));
    TensorContent refused;
    EXPECT_FALSE(uses.Lend(second, &refused));
  }
  content.owner.reset();
  SegmentUses uses(&small, {}, true);
  uses.Add({first, second});
  EXPECT_TRUE(uses.Lend(second, &content));
}

TEST_F(SegmentUsesTest, AResponseMayOutliveTheWorker) {
  TensorContent content;
  {
    Segments gone(uint64_t{64} << 20);
    TakenSegment taken;
    ASSERT_TRUE(gone.pool.Take(kSize, &taken).ok());
    taken.memory->data()[0] = 'x';
    tensor_.segment = taken.id;
    SegmentUses uses(&gone, {}, true);
    uses.Add({tensor_});
    ASSERT_TRUE(uses.Lend(tensor_, &content));
  }
  EXPECT_EQ(content.data[0], 'x');
}

}  // namespace
}  // namespace nereid::python

// SPDX-License-Identifier: Apache-2.0
#include "codec/json/sequences.h"

#include <gtest/gtest.h>

namespace nereid::codec::json {
namespace {

TEST(SequencesTest, Encodes) {
  EXPECT_EQ(EncodeSequences({}), R"({"total":0,"sequences":[]})");
  api::SequenceInfo in_slot;
  in_slot.id = "18446744073709551615";
  in_slot.has_slot = true;
  in_slot.instance = "m_0";
  in_slot.slot = 3;
  in_slot.executing = true;
  in_slot.age_ns = 5'000;
  api::SequenceInfo waits;
  waits.id = "a\"b";
  waits.text_id = true;
  waits.open = false;
  waits.queued = 2;
  EXPECT_EQ(EncodeSequences({7, {in_slot, waits}}),
            R"({"total":7,"sequences":[{"id":18446744073709551615,"state":"slot","instance":"m_0",)"
            R"("slot":3,"queued":0,"executing":true,"ended":false,"idle_us":0,"age_us":5},)"
            R"({"id":"a\"b","state":"backlog","queued":2,"executing":false,"ended":true,)"
            R"("idle_us":0,"age_us":0}]})");
}

}  // namespace
}  // namespace nereid::codec::json

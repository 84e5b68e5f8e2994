// SPDX-License-Identifier: Apache-2.0
#include "model/setting_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "request/testing/make_model.h"

namespace nereid::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> NotesOf(const std::string& config) {
  return SettingNotes(*request::MakeModel("name: \"m\" backend: \"b\" " + config)->config);
}

TEST(SettingNotesTest, WhatWorksIsNotNoted) {
  EXPECT_THAT(NotesOf(""), IsEmpty());
  // Pinned memory speeds up copies to a GPU; without one there are none.
  EXPECT_THAT(NotesOf(R"(
      max_batch_size: 4 dynamic_batching { max_queue_delay_microseconds: 10 }
      optimization { graph { level: 1 } input_pinned_memory { enable: true } }
      metric_tags { key: "a" value: "b" } parameters { key: "a" value { string_value: "b" } }
      instance_group { count: 2 passive: true host_policy: "x" }
      model_warmup { name: "w" batch_size: 1 } model_transaction_policy { decoupled: true })"),
              IsEmpty());
}

// The rest of what is for GPUs is told by the rules that only warn.
TEST(SettingNotesTest, WhatIsForGpusIsNoted) {
  EXPECT_THAT(NotesOf(R"(optimization {
                   priority: PRIORITY_MAX gather_kernel_buffer_threshold: 3 eager_batching: true })"),
              ElementsAre("optimization.priority: this server uses no GPU",
                          "optimization.gather_kernel_buffer_threshold: this server uses no GPU",
                          "optimization.eager_batching: no backend of this server prepares a batch "
                          "while another one runs"));
}

}  // namespace
}  // namespace nereid::model

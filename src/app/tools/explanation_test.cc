// SPDX-License-Identifier: Apache-2.0
#include "app/tools/explanation.h"

#include <gtest/gtest.h>

namespace nereid::app::tools {
namespace {

using config::FieldOrigin;

TEST(Explanation, MarksValuesThatDifferFromTheFile) {
  Explanation before, loaded;
  before.fields = {{"max_batch_size", "4", FieldOrigin::kWritten, {3, 1}, "", ""},
                   {"name", "\"m\"", FieldOrigin::kWritten, {1, 1}, "", ""},
                   {"backend", "\"b\"", FieldOrigin::kDerived, {}, "rule", "why"}};
  loaded.fields = before.fields;
  loaded.fields[0].value = "8";
  loaded.fields[0].origin = FieldOrigin::kBackend;  // what the comparison with the file says
  loaded.fields[2].value = "\"c\"";
  MarkLoadedValues(before, &loaded);
  EXPECT_EQ(loaded.fields[0].origin, FieldOrigin::kLoaded);
  EXPECT_EQ(loaded.fields[0].reason, "the model was loaded with this value; the file has 4");
  EXPECT_EQ(loaded.fields[1].origin, FieldOrigin::kWritten);
  EXPECT_EQ(loaded.fields[2].origin, FieldOrigin::kDerived);
  EXPECT_EQ(config::FieldOriginName(FieldOrigin::kLoaded), "load");
}

}  // namespace
}  // namespace nereid::app::tools

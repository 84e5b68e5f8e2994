// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: a config.pbtxt (first byte even) or a JSON override (odd), taken all the way
// from text to the JSON that clients get.
#include <cstdint>
#include <string>
#include <string_view>

#include "config/complete/complete.h"
#include "config/complete/instance_groups.h"
#include "config/describe/describe.h"
#include "config/parse/parse.h"
#include "config/rules/validate.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nereid;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto parsed = data[0] % 2 == 0 ? config::ParseModelConfigText(text, "fuzz")
                                       : config::ParseModelConfigJson(text);
  if (!parsed.ok()) return 0;
  config::ModelFiles files;
  files.directory_name = "model";
  files.subdirectories["1"].push_back({"model.onnx", false});
  const auto completed = config::CompleteModelConfig(**parsed, files);
  if (!completed.ok()) return 0;
  if (!config::ValidateModelConfig(**completed, config::ValidateOptions::ForPoll(true, "model"))
           .ok()) {
    return 0;
  }
  const auto grouped = config::CompleteInstanceGroups(**completed, {});
  (void)config::ValidateModelConfig(*grouped, config::ValidateOptions::ForLoad(0));
  // What we describe, we must be able to read.
  const std::string json = config::DescribeModelConfigJson(*grouped);
  if (!config::ParseModelConfigJson(json).ok()) __builtin_trap();
  return 0;
}

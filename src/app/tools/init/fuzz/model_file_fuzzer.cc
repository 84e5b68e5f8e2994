// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: reads an ONNX model, a TensorFlow saved model or an IR of OpenVINO; the first
// byte says which. If the model can be read, the configuration that is made from it must be valid.
#include <array>
#include <cstdint>
#include <string_view>

#include "app/tools/init/config_draft.h"
#include "app/tools/init/model_files.h"
#include "base/utf8.h"
#include "config/parse/parse.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nereid;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  app::tools::ConfigDraft draft;
  draft.backend = "b";
  constexpr auto kReaders =
      std::to_array({app::tools::ReadOnnx, app::tools::ReadSavedModel, app::tools::ReadOpenVino});
  const base::Status read = kReaders[data[0] % kReaders.size()](bytes, &draft);
  if (!read.ok()) return 0;
  for (const auto* list : {&draft.inputs, &draft.outputs}) {
    for (const auto& tensor : *list) {
      if (!base::IsUtf8(tensor.name)) return 0;
    }
  }
  const int32_t batch = app::tools::CanBatch(draft) ? 4 : 0;
  const std::string text = app::tools::WriteConfig(draft, batch);
  if (!config::ParseModelConfigText(text, "init").ok()) __builtin_trap();
  return 0;
}

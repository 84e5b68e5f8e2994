// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: looks at a file of any content, as ReadFolder does, and reads it as
// TorchScript.
#include <cstdint>
#include <string_view>

#include "base/byte_source.h"
#include "layout/file_kind.h"
#include "layout/onnx_external_data.h"
#include "layout/torchscript_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nereid;
  const base::StringSource file(std::string_view(reinterpret_cast<const char*>(data), size));
  layout::ClassifyFile("model.onnx", file);
  layout::ReadOnnxExternalData(file);
  (void)layout::ReadTorchScript(file);
  return 0;
}

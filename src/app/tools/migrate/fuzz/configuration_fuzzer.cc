// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: reads the configuration of TensorFlow Serving (first byte even) or of OpenVINO
// Model Server (odd), and makes ensembles of its pipelines.
#include <cstdint>
#include <string_view>

#include "app/tools/migrate/ensemble_of_pipeline.h"
#include "app/tools/migrate/migration.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nereid::app::tools;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto migration = data[0] % 2 == 0 ? ReadTensorFlowServing(text, text.substr(size / 2))
                                          : ReadOpenVinoModelServer(text);
  if (!migration.ok() || !CheckNames(*migration).ok()) return 0;
  std::map<std::string, ConfigDraft> drafts;
  for (const MigratedModel& model : migration->models) drafts[model.name];
  for (const MigratedPipeline& pipeline : migration->pipelines) {
    if (EnsembleOfPipeline(pipeline, drafts).ok()) continue;
  }
  return 0;
}

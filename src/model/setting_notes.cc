// SPDX-License-Identifier: Apache-2.0
#include "model/setting_notes.h"

#include "model_config.pb.h"

namespace nereid::model {
namespace {

constexpr const char* kNoGpu = "this server uses no GPU";

class Notes {
 public:
  void AddIf(bool set, const std::string& setting, const char* reason) {
    if (set) notes_.push_back(setting + ": " + reason);
  }
  std::vector<std::string> Take() { return std::move(notes_); }

 private:
  std::vector<std::string> notes_;
};

void NoteOptimization(const inference::ModelOptimizationPolicy& optimization, Notes* notes) {
  notes->AddIf(optimization.priority() != inference::ModelOptimizationPolicy::PRIORITY_DEFAULT,
               "optimization.priority", kNoGpu);
  notes->AddIf(optimization.gather_kernel_buffer_threshold() != 0,
               "optimization.gather_kernel_buffer_threshold", kNoGpu);
  notes->AddIf(optimization.eager_batching(), "optimization.eager_batching",
               "no backend of this server prepares a batch while another one runs");
}

}  // namespace

std::vector<std::string> SettingNotes(const config::ModelConfig& config) {
  Notes notes;
  NoteOptimization(config.proto().optimization(), &notes);
  return notes.Take();
}

}  // namespace nereid::model

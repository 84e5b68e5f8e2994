// SPDX-License-Identifier: Apache-2.0
#include "telemetry/label_set.h"

#include <functional>
#include <utility>

namespace nereid::telemetry {
namespace {

constexpr size_t kFirstSlots = 16;

}  // namespace

bool LabelSet::Add(std::string_view text) {
  if (2 * count_ >= slots_.size()) Grow();
  const uint64_t hash = std::hash<std::string_view>()(text);
  Slot& slot = Find(text, hash);
  if (slot.offset != SIZE_MAX) return false;
  const size_t offset = texts_.size();
  texts_.append(text);
  slot = {hash, offset, text.size()};
  ++count_;
  return true;
}

LabelSet::Slot& LabelSet::Find(std::string_view text, uint64_t hash) {
  const size_t mask = slots_.size() - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    Slot& slot = slots_[i];
    if (slot.offset == SIZE_MAX) return slot;
    if (slot.hash != hash || slot.size != text.size()) continue;
    if (std::string_view(texts_).substr(slot.offset, slot.size) == text) return slot;
  }
}

void LabelSet::Grow() {
  std::vector<Slot> old(slots_.empty() ? kFirstSlots : 2 * slots_.size());
  old.swap(slots_);
  const size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.offset == SIZE_MAX) continue;
    size_t i = slot.hash & mask;
    while (slots_[i].offset != SIZE_MAX) i = (i + 1) & mask;
    slots_[i] = slot;
  }
}

}  // namespace nereid::telemetry

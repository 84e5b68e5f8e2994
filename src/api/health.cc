// SPDX-License-Identifier: Apache-2.0
#include "api/health.h"

#include <utility>

namespace nereid::api {
namespace {

void CutText(std::string* text) {
  if (text->size() <= kMaxReasonText) return;
  size_t end = kMaxReasonText;
  // Not within a character of UTF-8, whose further bytes are 10xxxxxx.
  while (end > 0 && (static_cast<unsigned char>((*text)[end]) & 0xc0) == 0x80) --end;
  text->resize(end);
  *text += "...";
}

}  // namespace

void AddReason(UnreadyReason reason, Readiness* readiness) {
  readiness->ready = false;
  if (readiness->reasons.size() >= kMaxHealthReasons) {
    ++readiness->omitted;
    return;
  }
  CutText(&reason.text);
  readiness->reasons.push_back(std::move(reason));
}

void AddNote(UnreadyReason note, Readiness* readiness) {
  if (readiness->notes.size() >= kMaxHealthReasons) return;
  CutText(&note.text);
  readiness->notes.push_back(std::move(note));
}

}  // namespace nereid::api

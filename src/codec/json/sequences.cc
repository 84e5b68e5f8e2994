// SPDX-License-Identifier: Apache-2.0
#include "codec/json/sequences.h"

#include "base/json_writer.h"
#include "codec/json/array_text.h"

namespace nereid::codec::json {
namespace {

using base::JsonWriter;

void WriteSequence(const api::SequenceInfo& sequence, JsonWriter* json) {
  json->BeginObject().Key("id");
  if (sequence.text_id) {
    json->String(sequence.id);
  } else {
    json->Raw(sequence.id);
  }
  if (sequence.has_slot) {
    json->Key("state").String("slot").Key("instance").String(sequence.instance);
    json->Key("slot").Integer(sequence.slot);
  } else {
    json->Key("state").String("backlog");
  }
  json->Key("queued").Integer(sequence.queued).Key("executing").Bool(sequence.executing);
  json->Key("ended").Bool(!sequence.open);
  json->Key("idle_us").Integer(sequence.idle_ns / 1000);
  json->Key("age_us").Integer(sequence.age_ns / 1000).EndObject();
}

}  // namespace

std::string EncodeSequences(const api::SequenceList& list) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("total").Integer(list.total).Key("sequences");
  WriteArray(list.sequences, &json, WriteSequence);
  json.EndObject();
  return text;
}

}  // namespace nereid::codec::json

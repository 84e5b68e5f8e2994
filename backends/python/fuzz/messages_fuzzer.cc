// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: the messages of a worker. The first byte chooses the kind of message; the rest
// is the message, for which each tensor's place is looked up as the server does.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "python/messages.h"

namespace {

using namespace nereid::python;

void Visit(const std::vector<WireTensor>& tensors, Bytes data) {
  for (const WireTensor& tensor : tensors) {
    Bytes content;
    if (FindInline(tensor, data, &content) && content.size() != tensor.size) {
      __builtin_trap();
    }
  }
}

void Read(uint8_t kind, Bytes body) {
  WireResults results;
  WireSend send;
  WireInfer infer;
  WireLog log;
  WireControl control;
  WireDone done;
  switch (kind % 6) {
    case 0:
      if (!ReadResults(body, &results)) {
        for (const WireResult& result : results.results) {
          Visit(result.outputs, results.data);
        }
      }
      return;
    case 1:
      if (!ReadSend(body, &send)) {
        Visit(send.result.outputs, send.data);
      }
      return;
    case 2:
      if (!ReadInfer(body, &infer)) {
        Visit(infer.inputs, infer.data);
      }
      return;
    case 3:
      ReadLog(body, &log);
      return;
    case 4:
      ReadControl(body, &control);
      return;
    default:
      ReadDone(body, &done);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  // A copy of its own size, so that a read behind the end is found.
  const std::vector<char> message(data + 1, data + size);
  MessageHeader header;
  Bytes body;
  if (!ReadHeader(message, &header, &body)) {
    Read(data[0], body);
  }
  return 0;
}

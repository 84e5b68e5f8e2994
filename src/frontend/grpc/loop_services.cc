// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/loop_services.h"

namespace nereid::frontend::grpc {
namespace {

thread_local LoopServices* current_loop = nullptr;

}  // namespace

LoopServices* LoopServices::Current() { return current_loop; }

void LoopServices::SetCurrent(LoopServices* loop) { current_loop = loop; }

}  // namespace nereid::frontend::grpc

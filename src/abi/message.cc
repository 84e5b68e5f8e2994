// SPDX-License-Identifier: Apache-2.0
#include "abi/message.h"

#include <string_view>

#include "abi/error.h"

using namespace nereid;

extern "C" {

TRITONSERVER_Error* TRITONSERVER_MessageNewFromSerializedJson(TRITONSERVER_Message** message,
                                                              const char* base, size_t byte_size) {
  NEREID_CHECK_NOT_NULL(message, base);
  return abi::Guard([&] {
    NEREID_RETURN_IF_ERROR(abi::CheckJson(std::string_view(base, byte_size)));
    *message = new TRITONSERVER_Message(std::string(base, byte_size));
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_MessageDelete(TRITONSERVER_Message* message) {
  delete message;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_MessageSerializeToJson(TRITONSERVER_Message* message,
                                                        const char** base, size_t* byte_size) {
  NEREID_CHECK_NOT_NULL(message, base, byte_size);
  *base = message->json.c_str();
  *byte_size = message->json.size();
  return nullptr;
}

}  // extern "C"

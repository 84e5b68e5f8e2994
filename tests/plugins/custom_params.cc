// SPDX-License-Identifier: Apache-2.0
// A custom library that returns the data that CustomInitialize got: OUTPUT, texts in one dimension,
// has the instance's name, the device, the server's parameters, and the serialized configuration.
#include "custom_tensors.h"

namespace {

struct Context {
  std::vector<std::string> texts;
};

}  // namespace

extern "C" {

int CustomInitialize(const CustomInitializeData* data, void** context) {
  auto* made = new Context;
  made->texts = {data->instance_name, std::to_string(data->gpu_device_id)};
  for (size_t i = 0; i < data->server_parameter_cnt; ++i) {
    made->texts.emplace_back(data->server_parameters[i]);
  }
  made->texts.emplace_back(data->serialized_model_config, data->serialized_model_config_size);
  *context = made;
  return 0;
}

int CustomFinalize(void* context) {
  delete static_cast<Context*>(context);
  return 0;
}

const char* CustomErrorString(void*, int) { return nullptr; }

int CustomExecute(void* context, uint32_t count, CustomPayload* payloads, CustomGetNextInputFn_t,
                  CustomGetOutputFn_t output) {
  const auto& texts = static_cast<Context*>(context)->texts;
  std::string bytes;
  for (const std::string& text : texts) {
    const auto size = static_cast<uint32_t>(text.size());
    bytes.append(reinterpret_cast<const char*>(&size), sizeof(size)).append(text);
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (payloads[i].output_cnt != 0 &&
        !nereid::test_plugins::WriteOutput(payloads[i], output, "OUTPUT",
                                           {static_cast<int64_t>(texts.size())}, bytes)) {
      payloads[i].error_code = 1;
    }
  }
  return 0;
}
}

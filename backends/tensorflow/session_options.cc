// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/session_options.h"

#include <string>

#include "tensorflow/session_config.h"

namespace nereid::tensorflow {

Error MakeSessionOptions(const backend::ModelConfig& config, int64_t sharers,
                         Owned<TF_SessionOptions>* options) {
  std::string proto;
  NEREID_BACKEND_TRY(MakeConfigProto(config, sharers, &proto));
  options->reset(TF_NewSessionOptions());
  Status status;
  TF_SetConfig(options->get(), proto.data(), proto.size(), status.get());
  return status.ToError("model '" + config.name + "': the session's options are refused");
}

Owned<TF_Buffer> MakeRunOptions() {
  const std::string proto = RunOptionsProto();
  return Owned<TF_Buffer>(TF_NewBufferFromString(proto.data(), proto.size()));
}

}  // namespace nereid::tensorflow

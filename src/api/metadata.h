// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tensor/shape.h"

namespace nereid::api {

struct ServerMetadata {
  std::string name;
  std::string version;
  std::vector<std::string> extensions;
};

struct TensorMetadata {
  std::string name;
  std::string datatype;  // "FP32", for example
  tensor::Shape shape;   // starts with -1 if the model batches
};

struct ModelMetadata {
  std::string name;
  std::vector<std::string> versions;
  std::string platform;
  std::vector<TensorMetadata> inputs;
  std::vector<TensorMetadata> outputs;
};

/// One entry of the repository index; empty members are absent in the response.
struct RepositoryIndexEntry {
  std::string name;
  std::string version;
  std::string state;
  std::string reason;
};

}  // namespace nereid::api

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "python/extension/python.h"
#include "triton/core/tritonserver.h"

namespace nereid::python {

/// Parameters of the C API, made of a dict.
class Parameters {
 public:
  Parameters() = default;
  ~Parameters();
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  /// Reads a dict from names to str, bool, int, float or bytes; None has no parameters. The dict
  /// must keep its values as long as this object, which refers to their bytes.
  bool Read(PyObject* dict);
  const TRITONSERVER_Parameter** data() { return parameters_.data(); }
  uint64_t size() const { return parameters_.size(); }

 private:
  bool Add(PyObject* key, PyObject* value);

  std::vector<const TRITONSERVER_Parameter*> parameters_;
  std::vector<Ref> kept_;
};

/// C strings, made of a sequence of str.
class Words {
 public:
  bool Read(PyObject* sequence);
  const char* const* data() const { return pointers_.data(); }
  uint32_t size() const { return static_cast<uint32_t>(pointers_.size()); }

 private:
  std::vector<std::string> words_;
  std::vector<const char*> pointers_;
};

}  // namespace nereid::python

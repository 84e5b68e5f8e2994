// SPDX-License-Identifier: Apache-2.0
#pragma once

// What libtriton_openvino.so offers libtriton_onnxruntime.so beside the backend API: to run an ONNX
// model whose configuration names the execution accelerator "openvino". See
// docs/decisions/0009-openvino-accelerator.md. Both come from one build; `version` catches a mix.

#include <stddef.h>
#include <stdint.h>

#include "triton/core/tritonbackend.h"

extern "C" {

/// One version of a model, and one instance, as OpenVINO runs them. Errors are the caller's.
struct NereidOpenVinoModel;
struct NereidOpenVinoInstance;

struct NereidOpenVinoAccelerator {
  /// NEREID_OPENVINO_ACCELERATOR_VERSION of the library.
  uint32_t version;
  /// Opens the ONNX file `path`, completes and checks the configuration of `model`, and compiles.
  /// `keys` and `values`: `count` parameters of the accelerator.
  TRITONSERVER_Error* (*LoadModel)(TRITONBACKEND_Model* model, const char* path,
                                   const char* const* keys, const char* const* values, size_t count,
                                   NereidOpenVinoModel** loaded);
  /// After the last of its instances.
  void (*UnloadModel)(NereidOpenVinoModel* model);
  TRITONSERVER_Error* (*LoadInstance)(NereidOpenVinoModel* model,
                                      TRITONBACKEND_ModelInstance* instance,
                                      NereidOpenVinoInstance** loaded);
  void (*UnloadInstance)(NereidOpenVinoInstance* instance);
  /// Answers and releases each request, as TRITONBACKEND_ModelInstanceExecute does; one thread at a
  /// time.
  void (*Execute)(NereidOpenVinoInstance* loaded, TRITONBACKEND_ModelInstance* instance,
                  TRITONBACKEND_Request** requests, uint32_t count);
};

#define NEREID_OPENVINO_ACCELERATOR_VERSION 1

/// The table; never null.
TRITONBACKEND_ISPEC const NereidOpenVinoAccelerator* NereidGetOpenVinoAccelerator();

}  // extern "C"

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NEREID_CUSTOM_H_
#define NEREID_CUSTOM_H_

/*
 * The C interface of a custom model: a shared library that computes (`platform: "custom"`), as the
 * first generation of the server defined it. Names, values and layouts are those of that
 * generation's documentation, so that a library compiled for it runs unchanged, and its source
 * compiles with this header. A new model is better written as a backend (nereid/backend).
 *
 * A library defines CustomInitialize, CustomFinalize, CustomErrorString and one of
 *   CustomExecute    version 1: tensors in CPU memory. This is what a library without
 *                    CustomVersion has.
 *   CustomExecuteV2  version 2: the callbacks also speak of memory types.
 *
 * Each instance of a model has a context of its own, made by CustomInitialize. The functions of one
 * context are never called by two threads at once; those of two contexts may be.
 *
 * An `int` that a function returns is 0 for success. Any other number is a failure of the library's
 * own, which CustomErrorString puts into words.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Marks what the server has to find in the library. */
#if defined(_MSC_VER)
#define TRTIS_CUSTOM_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define TRTIS_CUSTOM_EXPORT __attribute__((__visibility__("default")))
#else
#define TRTIS_CUSTOM_EXPORT
#endif

/* The value of CustomInitializeData.gpu_device_id for an instance on the CPU. */
#define CUSTOM_NO_GPU_DEVICE -1

/* The number of texts in CustomInitializeData.server_parameters. */
#define CUSTOM_SERVER_PARAMETER_CNT 2

/* The places of the texts in CustomInitializeData.server_parameters. */
typedef enum custom_serverparamkind_enum {
  /* The version of the server. */
  INFERENCE_SERVER_VERSION = 0,
  /* The absolute path of the repository that holds the model's folder. */
  MODEL_REPOSITORY_PATH = 1
} CustomServerParameter;

/* Where the bytes of a tensor lie (version 2). */
typedef enum custom_memorytype_enum {
  CUSTOM_MEMORY_CPU,
  CUSTOM_MEMORY_GPU,
  CUSTOM_MEMORY_CPU_PINNED
} CustomMemoryType;

/* What an instance is told about itself. All of it belongs to the server and is valid during
 * CustomInitialize only. */
typedef struct custom_initdata_struct {
  /* No other instance has this name. */
  const char* instance_name;
  /* The model configuration as a serialised protobuf message (model_config.proto, ModelConfig): any
   * bytes, zeros among them. */
  const char* serialized_model_config;
  size_t serialized_model_config_size;
  /* The GPU to run on, or CUSTOM_NO_GPU_DEVICE. */
  int gpu_device_id;
  /* The texts that CustomServerParameter numbers. */
  size_t server_parameter_cnt;
  const char** server_parameters;
} CustomInitializeData;

/* One request. Payloads executed together may have different batch sizes, shapes and outputs. All
 * but error_code is the server's, and valid during the execution. */
typedef struct custom_payload_struct {
  /* The size of the batch dimension; 1 for a model whose max_batch_size is 0. */
  uint32_t batch_size;
  /* The inputs: those of the configuration that the request has, then the controls and states that
   * the server adds for a sequence. */
  uint32_t input_cnt;
  const char** input_names;
  /* Of each input: the shape, without the batch dimension of a model that has one. The pointer to
   * a shape of no dimensions is null. */
  const size_t* input_shape_dim_cnts;
  const int64_t** input_shape_dims;
  /* The outputs to compute: those that the client wants, then the states. May be none. */
  uint32_t output_cnt;
  const char** required_output_names;
  /* To be handed to the callbacks. */
  void* input_context;
  void* output_context;
  /* Set by the library where this request alone fails; 0 at first. */
  int error_code;
} CustomPayload;

/*
 * Gives the next piece of an input; the tensor is all pieces in their order. *content is null where
 * there is none left. *content_byte_size is the size of the piece; what it held before counts for
 * nothing. A piece belongs to the request.
 *
 * False where the payload has no input of that name, or its memory cannot be read; the request then
 * fails, whatever the library makes of it.
 */
typedef bool (*CustomGetNextInputFn_t)(void* input_context, const char* name, const void** content,
                                       uint64_t* content_byte_size);

/*
 * Adds an output and gives the buffer that takes its content before the execution ends. The shape
 * begins with the batch dimension where the model has one; content_byte_size is the size of the
 * whole tensor, exactly what shape and data type say, or for TYPE_STRING that of the elements with
 * their lengths. *content is null where nothing is to be written, because nobody wants the output
 * or it has no bytes. Each output is asked for at most once.
 *
 * False where the configuration lacks the output, or shape or size do not fit; the request then
 * fails, whatever the library makes of it.
 */
typedef bool (*CustomGetOutputFn_t)(void* output_context, const char* name, size_t shape_dim_cnt,
                                    int64_t* shape_dims, uint64_t content_byte_size,
                                    void** content);

/* The same with the memory of a piece. *memory_type and *memory_type_id are what the library would
 * like best, and what it gets. */
typedef bool (*CustomGetNextInputV2Fn_t)(void* input_context, const char* name,
                                         const void** content, uint64_t* content_byte_size,
                                         CustomMemoryType* memory_type, int64_t* memory_type_id);
typedef bool (*CustomGetOutputV2Fn_t)(void* output_context, const char* name, size_t shape_dim_cnt,
                                      int64_t* shape_dims, uint64_t content_byte_size,
                                      void** content, CustomMemoryType* memory_type,
                                      int64_t* memory_type_id);

/* The types of the functions that a library defines. */
typedef uint32_t (*CustomVersionFn_t)(void);
typedef int (*CustomInitializeFn_t)(const CustomInitializeData*, void**);
typedef int (*CustomFinalizeFn_t)(void*);
typedef const char* (*CustomErrorStringFn_t)(void*, int);
typedef int (*CustomExecuteFn_t)(void*, uint32_t, CustomPayload*, CustomGetNextInputFn_t,
                                 CustomGetOutputFn_t);
typedef int (*CustomExecuteV2Fn_t)(void*, uint32_t, CustomPayload*, CustomGetNextInputV2Fn_t,
                                   CustomGetOutputV2Fn_t);

/* 1 or 2: which of the two Execute functions the library has. */
TRTIS_CUSTOM_EXPORT uint32_t CustomVersion(void);

/* Makes the context of an instance, which may be null. Where it fails, a context that it made all
 * the same serves CustomErrorString, and is finalised. */
TRTIS_CUSTOM_EXPORT int CustomInitialize(const CustomInitializeData* data, void** custom_context);

/* Frees the context. */
TRTIS_CUSTOM_EXPORT int CustomFinalize(void* custom_context);

/* The words for a failure; null where there are none. The text belongs to the library. */
TRTIS_CUSTOM_EXPORT const char* CustomErrorString(void* custom_context, int errcode);

/* Executes the payloads. A failure that is returned is that of all of them. */
TRTIS_CUSTOM_EXPORT int CustomExecute(void* custom_context, uint32_t payload_cnt,
                                      CustomPayload* payloads, CustomGetNextInputFn_t input_fn,
                                      CustomGetOutputFn_t output_fn);
TRTIS_CUSTOM_EXPORT int CustomExecuteV2(void* custom_context, uint32_t payload_cnt,
                                        CustomPayload* payloads, CustomGetNextInputV2Fn_t input_fn,
                                        CustomGetOutputV2Fn_t output_fn);

#ifdef __cplusplus
}
#endif

#endif /* NEREID_CUSTOM_H_ */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A custom model: OUTPUT0 = INPUT0 + INPUT1 and OUTPUT1 = INPUT0 - INPUT1, all TYPE_INT32 and of
 * one shape. See README.md beside this file.
 */
#include <nereid/custom.h>
#include <stdlib.h>
#include <string.h>

/* The error codes. 0 is success; other numbers are defined by the library. */
enum { kNoMemory = 1, kInput, kDifferentSizes, kOutput, kUnknownOutput };

int CustomInitialize(const CustomInitializeData* data, void** context) {
  (void)data;      /* the configuration, and where the model lies */
  *context = NULL; /* this model keeps no state between executions */
  return 0;
}

int CustomFinalize(void* context) {
  (void)context;
  return 0;
}

const char* CustomErrorString(void* context, int code) {
  static const char* const kTexts[] = {"success",        "out of memory",
                                       "cannot be read", "the inputs differ in size",
                                       "got no buffer",  "an output that is not ours"};
  (void)context;
  return code >= 0 && code <= kUnknownOutput ? kTexts[code] : NULL;
}

/* Concatenates the pieces of an input, in memory that the caller must free. */
static int Read(CustomPayload* payload, CustomGetNextInputFn_t next, const char* name,
                int32_t** values, uint64_t* size) {
  const void* piece = NULL;
  uint64_t piece_size = 0;
  for (;;) {
    if (!next(payload->input_context, name, &piece, &piece_size)) return kInput;
    if (piece == NULL) return 0;
    char* longer = realloc(*values, *size + piece_size);
    if (longer == NULL) return kNoMemory;
    memcpy(longer + *size, piece, piece_size);
    *values = (int32_t*)longer;
    *size += piece_size;
  }
}

static int Compute(CustomPayload* payload, const int32_t* a, const int32_t* b, uint64_t size,
                   CustomGetOutputFn_t output) {
  /* The shape of INPUT0 after the batch size: max_batch_size is not 0. */
  int64_t shape[8] = {payload->batch_size};
  const size_t rank = payload->input_shape_dim_cnts[0];
  if (rank > 7) return kOutput;
  for (size_t i = 0; i < rank; ++i) shape[i + 1] = payload->input_shape_dims[0][i];
  for (uint32_t i = 0; i < payload->output_cnt; ++i) {
    const char* name = payload->required_output_names[i];
    const int sign = strcmp(name, "OUTPUT0") == 0 ? 1 : -1;
    if (sign == -1 && strcmp(name, "OUTPUT1") != 0) return kUnknownOutput;
    void* buffer = NULL;
    if (!output(payload->output_context, name, rank + 1, shape, size, &buffer)) return kOutput;
    if (buffer == NULL) continue; /* nothing to write */
    for (uint64_t k = 0; k < size / sizeof(int32_t); ++k)
      ((int32_t*)buffer)[k] = a[k] + sign * b[k];
  }
  return 0;
}

int CustomExecute(void* context, uint32_t count, CustomPayload* payloads,
                  CustomGetNextInputFn_t next, CustomGetOutputFn_t output) {
  (void)context;
  for (uint32_t i = 0; i < count; ++i) {
    CustomPayload* payload = &payloads[i];
    int32_t *a = NULL, *b = NULL;
    uint64_t a_size = 0, b_size = 0;
    int code = Read(payload, next, "INPUT0", &a, &a_size);
    if (code == 0) code = Read(payload, next, "INPUT1", &b, &b_size);
    if (code == 0 && a_size != b_size) code = kDifferentSizes;
    if (code == 0) code = Compute(payload, a, b, a_size, output);
    payload->error_code = code; /* this request fails, the others do not */
    free(a);
    free(b);
  }
  return 0;
}

/* What the library asks of its CUDA backend.
 *
 * The backend is C++ and CUDA behind these functions; nothing else of it is called. They follow six rules:
 *
 *  - No exception and no abort leaves a function: every fault comes back as a spc_error by value.
 *  - A context is one device's lane. Its functions are called from one thread at a time, not always the same one; different
 *    contexts are used at the same time. Each function makes its device current itself.
 *  - Host memory is the caller's. What a function reads must stay as it is until the function says it is done with it.
 *  - Field elements are blst's: scalars four, coordinates six little-endian 64-bit words in Montgomery form; points affine,
 *    (0, 0) the point at infinity. Results are affine, too.
 *  - Device memory belongs to its context, is reused between partitions, and is freed by spc_context_destroy. After the
 *    n-th partition of a circuit as much is in use as after the first.
 *  - A function returns when all it has asked the device for is over, also when it fails.
 */
#ifndef SPLITPROVE_CUDA_H
#define SPLITPROVE_CUDA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What went wrong; code 0: nothing. */
typedef struct spc_error {
  int32_t code;       /* SPC_* */
  int32_t cuda_error; /* cudaError_t, else 0 */
  char message[248];  /* ends in NUL: the call that failed, file and line */
} spc_error;

#define SPC_OK 0
/* The device has no room: the caller may evict parameters and try again. */
#define SPC_OUT_OF_MEMORY 1
/* The cancel flag was set. The context is as before the call. */
#define SPC_CANCELLED 2
/* An argument cannot be: a fault of the caller. */
#define SPC_INVALID 3
/* The call failed; the context may go on. */
#define SPC_FAILED 4
/* The device cannot recover from this (an illegal address, a lost device): every later call on the context fails with
 * it, too, until the context is destroyed. */
#define SPC_LOST 5

/* One device. */
typedef struct spc_device {
  char uuid[48];            /* "GPU-…" as nvidia-smi prints it, 40 characters; ends in NUL */
  char name[80];            /* ends in NUL */
  uint64_t memory_bytes;    /* all of it */
  int32_t capability_major; /* 9 and 0 for an H100 */
  int32_t capability_minor;
} spc_device;

/* How many devices can be used, and the versions of runtime and driver as CUDA numbers them (12040 for 12.4; driver 0:
 * none is installed). Without a driver: SPC_OK and no devices. Starts no context. */
spc_error spc_device_count(int32_t *count, int32_t *runtime_version, int32_t *driver_version);

/* Device 0 <= index < count. Starts no context. */
spc_error spc_device_get(int32_t index, spc_device *out);

typedef struct spc_context spc_context;
typedef struct spc_params spc_params;

/* Takes a device: its streams, events and buffers. memory_limit: bytes of device memory to stay under, 0: what is free.
 * pinned_limit: bytes of pinned host memory for staging, 0: 128 MiB. *out is written on success only; ended by
 * spc_context_destroy. */
spc_error spc_context_create(int32_t index, uint64_t memory_limit, uint64_t pinned_limit, spc_context **out);

/* Frees everything. Parameters are to be unloaded before. NULL: does nothing. */
void spc_context_destroy(spc_context *context);

/* Bytes of device and pinned memory in use, and the most there ever were. */
typedef struct spc_memory {
  uint64_t device_bytes, device_peak_bytes;
  uint64_t pinned_bytes, pinned_peak_bytes;
} spc_memory;
spc_error spc_context_memory(spc_context *context, spc_memory *out);

/* A list of affine points in host memory: G1 96 bytes each, G2 192. */
typedef struct spc_points {
  const void *points;
  uint64_t count;
} spc_points;

/* A circuit's parameters in bellperson's order: h (domain - 1), l (aux), a, b_g1 and b_g2 (variables that occur in A or
 * B: inputs, then aux). */
typedef struct spc_params_view {
  spc_points h, l, a, b_g1, b_g2;
} spc_params_view;

/* Takes a circuit's parameters to the device and checks there that every point lies on its curve (SPC_INVALID: one does
 * not; the message says which). The lists may be freed afterwards. cancelled is looked at between copies and may be NULL.
 * *out is written on success only; ended by spc_params_unload. */
spc_error spc_params_load(spc_context *context, const spc_params_view *params, const volatile uint8_t *cancelled,
                          spc_params **out);

/* Frees a circuit's parameters. NULL: does nothing. */
void spc_params_unload(spc_context *context, spc_params *params);

/* A partition to prove. */
typedef struct spc_witness {
  const void *inputs; /* scalars, the constant one first */
  uint64_t input_count;
  /* The aux values: scalars, or packed (aux NULL): two words for every 64 values, which are one and which are neither
   * zero nor one; the number of the latter before each 64; and the latter themselves. */
  const void *aux;
  uint64_t aux_count;
  const uint64_t *aux_planes;
  const uint32_t *aux_ranks;
  const void *aux_wide; /* scalars */
  uint64_t aux_wide_count;
  const void *a, *b; /* rows scalars each: A's and B's evaluations; C's are their products */
  uint64_t rows;     /* constraints, with those of the inputs; rows <= 2^log_domain */
  const uint64_t *a_aux_used, *b_inputs_used, *b_aux_used; /* bits, lowest first: variables that occur */
  uint32_t log_domain;                                     /* at most 28 */
  uint32_t reserved0;
} spc_witness;

/* The first half: h, the quotient (a·b - c)/t, by six transforms, and the sum of hᵢ·h-queryᵢ, affine, into `h`. a and b are
 * read no more once it has returned. */
spc_error spc_prove_start(spc_context *context, spc_params *params, const spc_witness *witness,
                          const volatile uint8_t *cancelled, uint64_t h[12]);

/* Sums of a partition: points of the parameters times the witness, without blinding, which is the caller's. Affine. */
typedef struct spc_sums {
  uint64_t l[12], a[12], b_g1[12]; /* G1 */
  uint64_t b_g2[24];               /* G2 */
} spc_sums;

/* The second half: the sums over l, a, b_g1 and b_g2. Reads the witness's inputs, aux and bits; a and b may be NULL. Nothing
 * is kept between the halves: other partitions may come in between. */
spc_error spc_prove_finish(spc_context *context, spc_params *params, const spc_witness *witness,
                           const volatile uint8_t *cancelled, spc_sums *out);

#ifdef __cplusplus
}
#endif
#endif

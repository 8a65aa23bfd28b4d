/* What the harnesses share. */
#ifndef CHECK_H
#define CHECK_H

#include <splitprove.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKIP 77

/* Of all files; the one with main defines it. */
extern int checks;

/* Ends the program unless the condition holds. */
#define CHECK(condition)                                                       \
  do {                                                                         \
    checks++;                                                                  \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);  \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

/* Ends the program unless the call gives the status. */
#define GIVES(status, call)                                                    \
  do {                                                                         \
    checks++;                                                                  \
    const prover_status have_ = (call);                                        \
    if (have_ != (status)) {                                                   \
      fprintf(stderr, "%s:%d: %s gives %s, not %s\n", __FILE__, __LINE__, #call, prover_status_name(have_), #status); \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

/* A whole file, ended by a NUL that is not counted. */
static inline uint8_t *read_file(const char *folder, const char *name, size_t *len) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  CHECK(fseek(file, 0, SEEK_END) == 0);
  const long size = ftell(file);
  CHECK(size >= 0);
  rewind(file);
  uint8_t *bytes = (uint8_t *)malloc((size_t)size + 1);
  CHECK(bytes != NULL);
  CHECK(fread(bytes, 1, (size_t)size, file) == (size_t)size);
  bytes[size] = 0;
  fclose(file);
  *len = (size_t)size;
  return bytes;
}

/* The value after "key": in a flat JSON object. */
static inline const char *json_value(const char *json, const char *key) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\":", key);
  const char *at = strstr(json, quoted);
  CHECK(at != NULL);
  at += strlen(quoted);
  while (*at == ' ' || *at == '"') at++;
  return at;
}

static inline void json_bytes(const char *json, const char *key, uint8_t out[32]) {
  const char *hex = json_value(json, key);
  for (int i = 0; i < 32; i++) {
    unsigned byte = 0;
    CHECK(sscanf(hex + 2 * i, "%2x", &byte) == 1);
    out[i] = (uint8_t)byte;
  }
}

static inline uint64_t json_number(const char *json, const char *key) {
  return strtoull(json_value(json, key), NULL, 10);
}

/* The 2 KiB PoRep of a fixture folder as a request and as the statement that it proves. request->vanilla is for the caller
 * to free. */
static inline void porep(const char *folder, prove_request *request, prover_public *what) {
  size_t len = 0;
  char *json = (char *)read_file(folder, "public.json", &len);
  memset(request, 0, sizeof *request);
  request->struct_size = sizeof *request;
  request->kind = PROVE_POREP;
  CHECK(strncmp(json_value(json, "registered_seal_proof"), "StackedDrg2KiBV1_1\"", 19) == 0);
  request->registered_proof = 5;
  request->miner_id = json_number(json, "miner_actor_id");
  request->sector_number = json_number(json, "sector_id");
  request->vanilla = read_file(folder, "c1.json", &len);
  request->vanilla_len = len;
  request->vanilla_count = 1;
  memset(what, 0, sizeof *what);
  what->struct_size = sizeof *what;
  what->kind = PROVE_POREP;
  what->registered_proof = request->registered_proof;
  what->miner_id = request->miner_id;
  what->sector_number = request->sector_number;
  json_bytes(json, "ticket", what->ticket);
  json_bytes(json, "seed", what->seed);
  json_bytes(json, "comm_d", what->comm_d);
  json_bytes(json, "comm_r", what->comm_r);
  free(json);
}

#endif

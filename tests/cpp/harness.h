/* The C harness's parts. */
#ifndef HARNESS_H
#define HARNESS_H

#include "check.h"

prover engine(uint32_t threads);
prover_options options_of(uint32_t threads);
prove_request garbage(void);
pending_proof start(prover p, const prove_request *r);
void misuse(void);
void forks(void);
void space(void);
void locals(const char *folder);

#endif

# GNU make. The Rust crate is cargo's; this is everything around it. `make help` lists the targets.
#
# CARGO_TARGET_DIR, FIL_PROOFS_PARAMETER_CACHE, XDG_CACHE_HOME, NVCC and SPLITPROVE_CUDA_ARCHS are honoured everywhere.
# Tests build with cargo's dev profile, so that the binaries of `cargo build --release` stay as they were.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

CARGO ?= cargo
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
# The number programs link against; it changes when the C surface breaks.
SOVERSION := 0

TARGET := $(or $(CARGO_TARGET_DIR),target)
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/splitprove
# Development parameters for the demo and the tests.
ifeq ($(strip $(FIL_PROOFS_PARAMETER_CACHE)),)
FIL_PROOFS_PARAMETER_CACHE := $(CACHE)/params
endif
export FIL_PROOFS_PARAMETER_CACHE

PREFIX ?= $(or $(prefix),/usr/local)
BINDIR ?= $(or $(bindir),$(PREFIX)/bin)
LIBDIR ?= $(or $(libdir),$(PREFIX)/lib)
INCLUDEDIR ?= $(or $(includedir),$(PREFIX)/include)
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
INSTALL ?= install
INSTALL_PROGRAM ?= $(INSTALL) -m 755
INSTALL_DATA ?= $(INSTALL) -m 644

.PHONY: help release demo test loom sanitizers storms overhead bench-cpu bench-winning bench-load bench-witness bench-circuit fuzz large-tests params cuda-toolkit install install-strip uninstall

help:
	@echo 'make demo          build, prove a 2 KiB sector and a WinningPoSt, verify them here and with filecoin-proofs'
	@echo 'make test          formatting, lints, Rust, C, C++ and Go tests, installation'
	@echo 'make loom          the engine'"'"'s concurrency under a model checker; LOOM_LONG=1: more preemptions'
	@echo 'make sanitizers    AddressSanitizer, LeakSanitizer and ThreadSanitizer; SANITIZERS_SHORT=1: minutes less'
	@echo 'make storms        10,000 starts and cancels from 64 threads'
	@echo 'make overhead      what the engine costs beside the proofs, in instructions and seconds'
	@echo 'make bench-cpu     this CPU prover against bellperson'"'"'s: seconds and ratio'
	@echo 'make bench-winning a WinningPoSt from call to bytes, parameters resident, against bellperson: seconds and ratio'
	@echo 'make bench-load    reading 1.1 GB of parameters, checked, against bellperson'"'"'s unchecked: seconds, GB/s and ratio'
	@echo 'make bench-witness witnesses made natively against the official gadgets'
	@echo 'make bench-circuit a compiled circuit against plain matrices: seconds'
	@echo 'make large-tests   comparisons with the official code that take tens of minutes'
	@echo 'make fuzz          decoders against mutated inputs, FUZZ_SECONDS each'
	@echo 'make release       cargo build --release'
	@echo 'make params        development parameters for the tests, in $$FIL_PROOFS_PARAMETER_CACHE or the cache'
	@echo 'make cuda-toolkit  a CUDA toolkit for building, in the cache; last line: the path of nvcc'
	@echo 'make install       library, headers, splitprove.pc and command (DESTDIR, PREFIX, BINDIR, LIBDIR, INCLUDEDIR)'
	@echo 'make install-strip the same without debugging information'
	@echo 'make uninstall     takes them away again'

release:
	$(CARGO) build --release --locked

demo:
	@.ci/demo

test:
	@.ci/test

# The scenarios of src/engine/README.md, and that each can fail. Compiles the library's files, not the library.
loom:
	$(CARGO) test --locked --manifest-path tests/loom/Cargo.toml --target-dir $(abspath $(TARGET))/loom

sanitizers:
	@tests/sanitizers/run.sh

STORMS ?= 10000
storms:
	@SPLITPROVE_STORMS=$(STORMS) $(CARGO) test --locked --profile bench-cpu --features test-hooks --test pipeline -- \
	  --exact --nocapture ends::storms_of_starts_and_cancels | tee $(TARGET)/storms.log
	@grep -q 'storms: [0-9]' $(TARGET)/storms.log

overhead:
	@$(CARGO) build --locked --profile bench-cpu --example overhead --bin splitprove
	@tests/bench/overhead/run.sh $(TARGET)/bench-cpu

bench-cpu:
	$(CARGO) build --locked --profile bench-cpu --example bench_cpu --bin splitprove
	@$(TARGET)/bench-cpu/splitprove params generate --circuit porep-2KiB
	@$(TARGET)/bench-cpu/examples/bench_cpu tests/data/porep-2k/public.json tests/data/porep-2k/c1.json

bench-winning:
	$(CARGO) build --locked --profile bench-cpu --example bench_call --bin splitprove
	@$(TARGET)/bench-cpu/splitprove params generate --circuit winning-post-2KiB
	@$(TARGET)/bench-cpu/examples/bench_call winning-post tests/data/winning-2k/public.json tests/data/winning-2k/vanilla-0.bin

bench-load:
	$(CARGO) build --locked --profile bench-cpu --example bench_load --bin splitprove
	@$(TARGET)/bench-cpu/splitprove params generate --circuit porep-2KiB
	@$(TARGET)/bench-cpu/examples/bench_load porep-2KiB

# BENCH_CIRCUITS='--native porep-32GiB snap-32GiB window-post-32GiB' are the sizes that matter; without --native, the gadgets'
# minutes and gigabytes too.
BENCH_CIRCUITS ?=
bench-witness:
	$(CARGO) build --locked --profile bench-cpu --example bench_witness
	@$(TARGET)/bench-cpu/examples/bench_witness $(BENCH_CIRCUITS)

# The 2 KiB fixtures in the repository: PoRep's bits are packed, a PoSt's values are not.
bench-circuit:
	$(CARGO) build --locked --profile bench-cpu --example bench_circuit
	@$(TARGET)/bench-cpu/examples/bench_circuit porep tests/data/porep-2k/public.json tests/data/porep-2k/c1.json

params:
	@$(CARGO) build --locked --bin splitprove
	@for kind in porep snap window-post winning-post; do \
	  $(TARGET)/debug/splitprove params generate --circuit $$kind-2KiB; \
	done

# The tests marked "ignore": whole Filecoin circuits through bellperson's own generator, some 20 minutes of CPU each.
large-tests:
	$(CARGO) nextest run --locked --features test-hooks --lib --run-ignored only -E 'test(params::generate_tests)'
	$(CARGO) nextest run --locked --features test-hooks --test proofs --run-ignored only -E 'test(/^native::/)' --test-threads 1

# Coverage-guided, on stable Rust; what it finds goes to the cache and serves the next run. Needs cargo-fuzz.
FUZZ_SECONDS ?= 600
FUZZ_TARGETS ?= c1 public_json params vanilla circuit
fuzz:
	@for target in $(FUZZ_TARGETS); do \
	  mkdir -p $(CACHE)/fuzz/$$target; \
	  $(CARGO) fuzz run --fuzz-dir tests/fuzz --sanitizer none --target-dir $(abspath $(TARGET))/fuzz $$target \
	    $(CACHE)/fuzz/$$target tests/fuzz/seeds/$$target -- -max_total_time=$(FUZZ_SECONDS); \
	done

cuda-toolkit:
	@.ci/cuda-toolkit

# Installs what is built; builds it first where there is a cargo (under sudo there often is none).
install:
	@if command -v $(CARGO) >/dev/null; then $(CARGO) build --release --locked; fi
	@test -e $(TARGET)/release/libsplitprove.so || { echo 'nothing is built: run `make release` first' >&2; exit 1; }
	$(INSTALL) -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR) $(DESTDIR)$(INCLUDEDIR) $(DESTDIR)$(PKGCONFIGDIR)
	$(INSTALL_PROGRAM) $(TARGET)/release/splitprove $(DESTDIR)$(BINDIR)/splitprove
	$(INSTALL_PROGRAM) $(TARGET)/release/libsplitprove.so $(DESTDIR)$(LIBDIR)/libsplitprove.so.$(VERSION)
	ln -sf libsplitprove.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libsplitprove.so.$(SOVERSION)
	ln -sf libsplitprove.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libsplitprove.so
	$(INSTALL_DATA) include/splitprove.h include/splitprove.hpp $(DESTDIR)$(INCLUDEDIR)
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(VERSION)|' \
	  splitprove.pc.in >$(DESTDIR)$(PKGCONFIGDIR)/splitprove.pc
	chmod 644 $(DESTDIR)$(PKGCONFIGDIR)/splitprove.pc
	@$(LDCONFIG)

# Without debugging information, which is most of the files' size.
install-strip:
	$(MAKE) INSTALL_PROGRAM='$(INSTALL_PROGRAM) -s' install

uninstall:
	rm -f $(DESTDIR)$(BINDIR)/splitprove \
	  $(DESTDIR)$(LIBDIR)/libsplitprove.so{,.$(SOVERSION),.$(VERSION)} \
	  $(DESTDIR)$(INCLUDEDIR)/splitprove.h $(DESTDIR)$(INCLUDEDIR)/splitprove.hpp \
	  $(DESTDIR)$(PKGCONFIGDIR)/splitprove.pc
	@$(REMOVE_EMPTY_FOLDERS)
	@$(LDCONFIG)

# The loader's cache is the system's: left alone when installing elsewhere or without the right to write it.
LDCONFIG = if [ -z '$(DESTDIR)' ] && [ "$$(id -u)" = 0 ]; then PATH="$$PATH:/sbin:/usr/sbin" ldconfig; fi

# Folders left empty go too: all of a staging tree's, and those below a prefix of its own. /usr and /usr/local keep what
# Debian makes there.
FOLDERS = $(PKGCONFIGDIR) $(INCLUDEDIR) $(LIBDIR) $(BINDIR)
define REMOVE_EMPTY_FOLDERS
if [ -n '$(DESTDIR)' ]; then cd '$(DESTDIR)'; for d in $(FOLDERS); do rmdir -p --ignore-fail-on-non-empty "$${d#/}" 2>/dev/null || true; done; \
else case '$(PREFIX)' in /usr) ;; /usr/local) rmdir --ignore-fail-on-non-empty $(PKGCONFIGDIR) 2>/dev/null || true ;; \
  *) rmdir --ignore-fail-on-non-empty $(FOLDERS) 2>/dev/null || true ;; esac; fi
endef

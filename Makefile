# Stride's build. `make run` and `make test` do everything a fresh machine needs; see README.md.
#
#   make               build/stride, build/stride-harness and build/stride-host
#   make test          everything that can be checked here; `make test-fast` the unit tests alone
#   V=1                show the commands
#   SAN=1              with ASan and UBSan, in build-san/       CC=clang   with clang, in build-clang/
#
# Files are found by their folder: a new tui/x.c, harness/x.c, kernels/*/lab.c or host.c, tests/unit/test_x.c,
# tests/fuzz/fuzz_x.c or tests/bench/bench_x.c needs no line here.

VERSION := 0.1.0
SHELL   := /bin/bash
Q       := $(if $(V),,@)
,       := ,

ifeq ($(origin CC),default)
CC := gcc
endif
SAN    ?=
BUILD  ?= build$(if $(SAN),-san)$(if $(findstring clang,$(CC)),-clang)
PREFIX ?= /usr/local

PKGS   := ncursesw libgit2 md4c jansson libcyaml
SANF_1 := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SANF_fuzz := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SANF   := $(SANF_$(SAN))
ifneq ($(SAN),)
export LSAN_OPTIONS := suppressions=$(CURDIR)/tests/lsan.supp:print_suppressions=0
endif
CFLAGS ?= $(if $(SAN),-O1,-O2) -g
WARN   := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror
ALL_CFLAGS := -std=gnu17 -D_GNU_SOURCE -DSTRIDE_VERSION='"$(VERSION)"' $(WARN) $(CFLAGS) $(SANF) \
              -MMD -MP -I. \
              $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
# A bundle's own libraries stand in lib/ beside bin/; elsewhere the folder does not exist.
ALL_LDFLAGS := $(SANF) -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../lib' -Wl,--as-needed $(LDFLAGS)
# libcyaml.pc names libyaml too, whose own -dev package nobody needs: a shared libcyaml brings it.
LIBS_BASE := $(filter-out -lyaml,$(shell pkg-config --libs jansson libcyaml 2>/dev/null)) -lunistring -lm
LIBS_TUI  := $(shell pkg-config --libs ncursesw libgit2 md4c 2>/dev/null)
LIBS_HARNESS := -ldl -lpthread

src       = $(filter-out %/main.c,$(wildcard $(1)))
obj       = $(patsubst %.c,$(BUILD)/%.o,$(1))
BASE_SRC := $(call src,harness/base/*.c)
VEC_SRC  := $(wildcard harness/ptx/exec_*.c)
PTX_SRC  := $(filter-out $(VEC_SRC),$(call src,harness/ptx/*.c))
HARN_SRC := $(call src,harness/*.c) $(wildcard kernels/*/lab.c)
# override.c and denied.c stand in for functions of libc and belong to stride-host alone.
HOST_OWN := harness/host/override.c harness/host/denied.c
HOST_SRC := $(filter-out $(HOST_OWN),$(call src,harness/host/*.c)) $(wildcard kernels/*/host.c)
TUI_SRC  := $(call src,tui/*.c)
LIBS     := $(foreach l,tui harness host ptx base,$(BUILD)/lib$(l).a)
TESTS    := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))
BENCHES  := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(wildcard tests/bench/bench_*.c))
FUZZ     := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
# Suites that are scripts; each prints `ok name`, `FAIL name` or `skip name: why` lines.
SUITES   := $(wildcard $(addprefix tests/,content content-host lessons-on-screen sessions/run terminal smoke bundle headers layers \
              format repo messages terms docs cli simulator host))
PROGRAMS := $(BUILD)/stride $(BUILD)/stride-harness $(BUILD)/stride-host

.DEFAULT_GOAL := all
.PHONY: all deps run test test-fast test-programs replays check-gpu bench bench-gpu lint format fuzz \
        fuzzers bundle install clean
.SECONDARY:
.DELETE_ON_ERROR:

all: $(PROGRAMS)

# What builds something calls make again, on all cores unless -j says otherwise.
submake = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

# ---- programs and libraries

$(BUILD)/stride: $(BUILD)/tui/main.o $(BUILD)/libtui.a $(BUILD)/libbase.a
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS_TUI) $(LIBS_BASE)

$(BUILD)/stride-harness: $(BUILD)/harness/main.o $(BUILD)/libharness.a $(BUILD)/libhost.a $(BUILD)/libptx.a $(BUILD)/libbase.a
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS_BASE) $(LIBS_HARNESS)

# It exports the CUDA runtime's functions to the student's shared object (harness/host/api.def).
$(BUILD)/stride-host: $(BUILD)/harness/host/main.o $(call obj,$(HOST_OWN)) $(BUILD)/libhost.a $(BUILD)/libptx.a \
                      $(BUILD)/libbase.a
	$(Q)$(CC) $(ALL_LDFLAGS) -rdynamic -o $@ $(filter %.o,$^) -Wl,--whole-archive $(BUILD)/libhost.a -Wl,--no-whole-archive $(filter-out %libhost.a %.o,$^) $(LIBS_BASE) $(LIBS_HARNESS)

# harness/ptx/exec_*.c hold the vector loops: each is compiled once per width (vec.h makes the suffix
# of its names); the choice is made at run time. Contraction is off because a fused multiply-add where
# PTX asks for two roundings is a wrong answer.
ISAS := sse2 avx2 avx512
ISA_sse2   :=
ISA_avx2   := -mavx2 -mfma -mf16c -mbmi -mbmi2 -mlzcnt
ISA_avx512 := $(ISA_avx2) -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512
VEC_OBJ := $(foreach i,$(ISAS),$(patsubst %.c,$(BUILD)/%.$(i).o,$(VEC_SRC)))
$(foreach i,$(ISAS),$(patsubst %.c,$(BUILD)/%.$(i).o,$(VEC_SRC))): FILE_CFLAGS = $(if $(SAN),,-O3) $(ISA_$(lastword $(subst ., ,$(basename $@)))) \
    -fno-math-errno -fno-trapping-math $(if $(findstring clang,$(CC)),,-mno-vzeroupper)
$(BUILD)/harness/ptx/%.o: ALL_CFLAGS += -ffp-contract=off
define isa_rule
$(BUILD)/harness/ptx/exec_%.$(1).o: harness/ptx/exec_%.c
	@mkdir -p $$(@D)
	$(Q)$$(CC) $$(ALL_CFLAGS) $$(FILE_CFLAGS) -c -o $$@ $$<
endef
$(foreach i,$(ISAS),$(eval $(call isa_rule,$(i))))

# Where a host function's exception is seen passing by.
$(BUILD)/harness/host/sim_function.o: FILE_CFLAGS = -fexceptions

$(BUILD)/libbase.a:    $(call obj,$(BASE_SRC))
$(BUILD)/libptx.a:     $(call obj,$(PTX_SRC)) $(VEC_OBJ)
$(BUILD)/libharness.a: $(call obj,$(HARN_SRC))
$(BUILD)/libhost.a:    $(call obj,$(HOST_SRC))
$(BUILD)/libtui.a:     $(call obj,$(TUI_SRC))
$(BUILD)/%.a:
	@mkdir -p $(@D); rm -f $@
	@ar rcs $@ $(filter %.o,$^)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(FILE_CFLAGS) -c -o $@ $<

# ---- tests: one program per file of tests/unit, tests/bench, tests/fuzz; each may use anything

LIBS_ALL = $(LIBS) $(LIBS_TUI) $(LIBS_BASE) $(LIBS_HARNESS)

$(BUILD)/tests/%: $(BUILD)/tests/unit/%.o $(LIBS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(LIBS_ALL) -lcmocka

# Compares the simulator with the GPU; runs from a bundle's bin/ too.
$(BUILD)/ptx-diff: $(BUILD)/tests/ptx/ptx_diff.o $(LIBS)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(BUILD)/libharness.a $(BUILD)/libptx.a $(BUILD)/libbase.a $(LIBS_BASE) $(LIBS_HARNESS)

$(BUILD)/bench/%: $(BUILD)/tests/bench/%.o $(LIBS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(LIBS_ALL)

$(BUILD)/fuzz/replay_%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/fuzz/replay.o $(LIBS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(LIBS_ALL)

$(BUILD)/fuzz/fuzz_%: $(BUILD)/tests/fuzz/fuzz_%.o $(LIBS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $< $(LIBS_ALL)

$(BUILD)/ptx-run: $(BUILD)/tests/ptx/ptx_run.o $(BUILD)/libptx.a $(BUILD)/libbase.a
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS_BASE) $(LIBS_HARNESS)

test-programs: all $(TESTS) $(BUILD)/ptx-diff $(BUILD)/ptx-run
replays: $(FUZZ:%=$(BUILD)/fuzz/replay_%)
fuzzers: $(FUZZ:%=$(BUILD)/fuzz/fuzz_%)

test-fast: test-programs
	@BUILD=$(BUILD) tests/run $(TESTS)

# The corpora are always replayed with sanitizers on.
test:
	@./deps.sh test
	+@$(submake) test-programs
	+@$(submake) SAN=1 BUILD=build-san CC=gcc replays
	@BUILD=$(BUILD) SAN=$(SAN) CC=$(CC) tests/run $(SUITES) $(TESTS) $(FUZZ:%=build-san/fuzz/replay_%)

need_gpu = [ -e /dev/nvidiactl ] || { echo "$@: this machine has no NVIDIA GPU"; exit 1; }

check-gpu: test-programs
	@$(need_gpu)
	@BUILD=$(BUILD) tests/run --jobs 1 $(wildcard tests/gpu/check*)

bench: all $(BENCHES)
	@for b in $(BENCHES); do echo "== $${b##*/}"; $$b || exit; done

bench-gpu: all
	@$(need_gpu)
	@for b in $(wildcard tests/gpu/bench*); do echo "== $${b##*/}"; BUILD=$(BUILD) $$b || exit; done

# ---- quality

C_FILES = $(shell git ls-files '*.c' '*.h')

format:
	clang-format-14 -i $(C_FILES)

lint:
	@./deps.sh lint
	@tests/format
	+@$(submake) CC=gcc test-programs
	+@$(submake) CC=clang test-programs
	@printf '%s\n' $(filter tui/%.c harness/%.c kernels/%.c,$(C_FILES)) | \
	    xargs -P 2 -I{} clang-tidy --quiet --warnings-as-errors='*' {} -- $(filter-out -MMD -MP,$(ALL_CFLAGS)) 2>/dev/null
	@echo "lint: clean"

# FUZZ_TIME seconds for each target; what is found new stays in build-fuzz/corpus/NAME.
FUZZ_TIME ?= 60
fuzz:
	@./deps.sh lint
	+@$(submake) CC=clang SAN=fuzz BUILD=build-fuzz fuzzers
	@for f in $(FUZZ); do mkdir -p build-fuzz/corpus/$$f; echo "== $$f"; \
	    build-fuzz/fuzz/fuzz_$$f -max_total_time=$(FUZZ_TIME) -timeout=10 -rss_limit_mb=2048 -verbosity=0 -print_final_stats=1 \
	    -artifact_prefix=build-fuzz/$$f- build-fuzz/corpus/$$f tests/fuzz/corpus/$$f || exit; done

# ---- for users

deps:
	@./deps.sh test

run:
	@./deps.sh run
	+@$(submake) all
	@$(BUILD)/stride

bundle: all
	./bundle.sh $(BUILD) $(VERSION)

install: all
	install -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(PREFIX)/share/stride' '$(DESTDIR)$(PREFIX)/share/man/man1'
	install -m 755 $(PROGRAMS) '$(DESTDIR)$(PREFIX)/bin'
	install -m 644 docs/stride.1 '$(DESTDIR)$(PREFIX)/share/man/man1'
	cp -R lessons kernels assets '$(DESTDIR)$(PREFIX)/share/stride'

clean:
	rm -rf build build-* dist

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

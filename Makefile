# Stride's build. `make run` and `make test` do everything a fresh machine needs; see README.md.
#
#   make            build/stride and build/stride-harness
#   SAN=1           ASan and UBSan, in build-san/        CC=clang  with clang

SHELL := /bin/bash
CC    ?= gcc
SAN   ?=
BUILD ?= build$(if $(SAN),-san)$(if $(findstring clang,$(CC)),-clang)

PKGS_TUI  := ncursesw libgit2 md4c
PKGS_BASE := jansson libcyaml
pkg        = $(shell pkg-config $(1) $(2) 2>/dev/null)

WARN   := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror
CFLAGS ?= -O2 -g
STD    := -std=gnu17 -D_GNU_SOURCE
SANF   := $(if $(SAN),-fsanitize=address$(,)undefined -fno-omit-frame-pointer)
,      := ,
ALL_CFLAGS = $(STD) $(WARN) $(CFLAGS) $(SANF) -MMD -MP -I. $(call pkg,--cflags,$(PKGS_BASE) $(PKGS_TUI))

LIBS_BASE = $(call pkg,--libs,$(PKGS_BASE)) -lm
LIBS_TUI  = $(call pkg,--libs,$(PKGS_TUI)) -lunistring
LIBS_HARNESS = -ldl -lpthread

src       = $(filter-out %/main.c,$(wildcard $(1)))
BASE_SRC := $(call src,harness/base/*.c)
PTX_SRC  := $(call src,harness/ptx/*.c)
HARN_SRC := $(call src,harness/*.c) $(wildcard kernels/*/lab.c)
TUI_SRC  := $(call src,tui/*.c)
obj       = $(patsubst %.c,$(BUILD)/%.o,$(1))
LIBS      = $(foreach l,tui harness ptx base,$(BUILD)/lib$(l).a)
TESTS    := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))

.DEFAULT_GOAL := all
.PHONY: all deps run test test-fast clean
.SECONDARY:
.DELETE_ON_ERROR:

all: $(if $(wildcard tui/main.c),$(BUILD)/stride) $(if $(wildcard harness/main.c),$(BUILD)/stride-harness)

$(BUILD)/stride: $(BUILD)/tui/main.o $(BUILD)/libtui.a $(BUILD)/libbase.a
	$(CC) $(SANF) $(LDFLAGS) -o $@ $^ $(LIBS_TUI) $(LIBS_BASE)

$(BUILD)/stride-harness: $(BUILD)/harness/main.o $(BUILD)/libharness.a $(BUILD)/libptx.a $(BUILD)/libbase.a
	$(CC) $(SANF) $(LDFLAGS) -o $@ $^ $(LIBS_BASE) $(LIBS_HARNESS)

$(BUILD)/libbase.a:    $(call obj,$(BASE_SRC))
$(BUILD)/libptx.a:     $(call obj,$(PTX_SRC))
$(BUILD)/libharness.a: $(call obj,$(HARN_SRC))
$(BUILD)/libtui.a:     $(call obj,$(TUI_SRC))
$(BUILD)/%.a:
	@rm -f $@; ar rcs $@ $(filter %.o,$^)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(FILE_CFLAGS) -c -o $@ $<

# ptx per-ISA: files that are compiled once per vector width go here

# One program per file of tests/unit; each may use anything of both programs.
$(BUILD)/tests/%: $(BUILD)/tests/unit/%.o $(LIBS)
	@mkdir -p $(@D)
	$(CC) $(SANF) $(LDFLAGS) -o $@ $(filter-out $(LIBS),$^) $(LIBS) $(LIBS_TUI) $(LIBS_BASE) $(LIBS_HARNESS) -lcmocka

# Quick: the unit tests alone. `make test` is the whole thing.
test-fast: all $(TESTS)
	@failed=0; for t in $(TESTS); do $$t >$$t.log 2>&1 && echo "ok   $${t##*/}" || { failed=1; echo "FAIL $${t##*/}"; tail -40 $$t.log; }; done; exit $$failed

deps:
	./deps.sh

run: deps
	+$(MAKE) all
	$(BUILD)/stride

test: deps
	+$(MAKE) test-fast

clean:
	rm -rf build build-*

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

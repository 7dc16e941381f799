/* NVRTC, opened at run time: the CUDA compiler as a library.
 *
 * A struct nvrtc refers to the open libraries, which stay loaded for the process's life. One
 * compilation gives both PTX and machine code; the results belong to the caller.
 *
 * It knows nothing of labs, files or diagnostics: text goes in, text and bytes come out. */
#ifndef STRIDE_HARNESS_NVRTC_H
#define STRIDE_HARNESS_NVRTC_H

#include "harness/base/buf.h"
#include "harness/base/err.h"

enum { COMPILER_ARCHS = 64 };

typedef struct _nvrtcProgram *nvrtc_program; /* NVRTC's own handle */

struct compiler_abilities { /* of NVRTC or nvcc */
    int major, minor;
    int archs[COMPILER_ARCHS]; /* capabilities it compiles for, ascending: 75, 80, ... */
    int arch_count;
};

struct nvrtc {
    void *library, *builtins;
    struct compiler_abilities abilities;
    int (*create)(nvrtc_program *, const char *, const char *, int, const char *const *,
                  const char *const *);
    int (*compile)(nvrtc_program, int, const char *const *);
    int (*destroy)(nvrtc_program *);
    int (*log_size)(nvrtc_program, size_t *);
    int (*log)(nvrtc_program, char *);
    int (*ptx_size)(nvrtc_program, size_t *);
    int (*ptx)(nvrtc_program, char *);
    int (*cubin_size)(nvrtc_program, size_t *);
    int (*cubin)(nvrtc_program, char *);
    const char *(*error_string)(int);
};

/* What one compilation by NVRTC or nvcc gave. PTX may be there although it failed: then the
 * assembler refused it. */
struct compiler_output {
    int status; /* 0 is success */
    struct buf log, ptx, cubin;
};

/* `builtins` may be NULL when it was not found; the error then names it if NVRTC needs it. */
bool nvrtc_open(struct nvrtc *out, const char *library, const char *builtins, struct err *err);
void nvrtc_close(struct nvrtc *nvrtc);

/* False only when NVRTC itself failed; a source with errors is a result. `headers` and `names` are
 * files by content, found before any on disk. */
bool nvrtc_compile(const struct nvrtc *nvrtc, struct compiler_output *out, const char *source,
                   const char *name, int header_count, const char *const *headers,
                   const char *const *names, int option_count, const char *const *options,
                   struct err *err);
void compiler_output_free(struct compiler_output *output);

/* The best architecture for a device of capability `cc` (90; 0 when there is no device): "sm_90",
 * or "compute_90" when the device is newer than the compiler. False: too old, err says so. */
bool compiler_pick_arch(const struct compiler_abilities *abilities, int cc, char out[16],
                        struct err *err);

#endif

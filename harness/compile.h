/* From a kernel's source to PTX, machine code and a list of complaints.
 *
 * A struct compiler owns the open NVRTC (or the path of nvcc) and the options of one lab; a struct
 * build owns all that one compilation gave.
 *
 * Errors in the source are a result (build.ok is false), never a struct err: that is kept for a
 * machine that cannot compile. */
#ifndef STRIDE_HARNESS_COMPILE_H
#define STRIDE_HARNESS_COMPILE_H

#include "diagnostic.h"
#include "headers.h"
#include "nvcc.h"
#include "nvrtc.h"
#include "toolkit.h"

#include "harness/backend.h"

struct compiler {
    const struct toolkit *toolkit; /* borrowed, as is root */
    const char *root;
    int capability; /* of the device to compile for; 0 when there is none */
    struct nvrtc nvrtc;
    struct headers headers;
    struct nvcc nvcc;
    bool by_nvcc; /* NVRTC is missing or broken; note says why */
    char *note;
    struct compiler_abilities abilities; /* of the one in use */
    char arch[16];                       /* "sm_90" or "compute_90" */
    char *lab_folder;                    /* ROOT/kernels/SLUG */
    char *stand_ins;                     /* ROOT/kernels/include: C headers that NVRTC lacks */
    char *lab_header;                    /* text of its lab.h, NULL when it has none */
};

struct build {
    bool ok;
    bool log_cut;
    double ms;
    char arch[16];
    char *name; /* "kernel.cu" */
    struct buf source, ptx, cubin;
    struct diagnostics diagnostics;
};

/* Opens a compiler for a lab and a device of capability `cc` (0: none). */
bool compiler_open(struct compiler *out, const struct toolkit *toolkit, const char *root,
                   const char *slug, int cc, struct err *err);
void compiler_close(struct compiler *compiler);

/* Lets go of what a waiting child need not keep for ever; compiling works as before, slower. */
void compiler_relax(struct compiler *compiler);

/* "13.0", the version that compiles; free() it. */
char *compiler_version(const struct compiler *compiler);

/* Compiles the file, with nvcc from then on when NVRTC turns out to be broken; complaints call it
 * `name`, and headers of its own lie in `folder` (NULL: where the file lies). False: the machine
 * failed, not the source. */
bool compiler_build(struct compiler *compiler, struct build *out, const char *path,
                    const char *folder, const char *name, struct err *err);
void build_free(struct build *build);

/* The pieces of compiler_build that host_build.c shares: the folder that a file lies in (free()
 * it); reads the source (false, with a complaint, when it is no text or includes what is no file);
 * whether it includes headers that are not the lab's; a complaint about a copy of lab.h in `folder`
 * that differs; a complaint for a compiler that failed without one. */
char *build_folder(const char *path);
bool build_read_source(struct build *build, const char *path, const char *folder);
bool build_has_own_headers(const struct build *build);
void build_compare_header(struct build *build, const char *lab_header, const char *folder);
void build_explain_silence(struct build *build, int status);

/* The build as a backend takes it; borrowed from the build. */
struct image build_image(const struct build *build);

#endif

/* The door to libcupti. Its functions are looked up by name; the few types they need are plain
 * numbers and pointers. Buffers of records come back on CUPTI's own thread: a lock guards the log.
 */
#include "cupti.h"

#include "cupti_records.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 1 << 20, BUFFER_ALIGNMENT = 8 };
enum { VERSION_LEAST = 18 }; /* of CUDA 12.0 */
enum { EXTERNAL_CUSTOM = 3, FLUSH_FORCED = 1, OK = 0 };

enum refusal {
    NOT_COMPATIBLE = 14,
    VIRTUALIZED = 33,
    PRIVILEGES = 35,
    SUBSCRIBED = 39,
    VIRTUALIZED_PRIVILEGES = 40,
    CONFIDENTIAL = 41,
    WSL = 45,
};

/* X(name, (parameters)), all of type CUptiResult */
#define CUPTI_FUNCTIONS(X)                                                                         \
    X(cuptiGetVersion, (uint32_t * version))                                                       \
    X(cuptiGetResultString, (int result, const char **text))                                       \
    X(cuptiActivityRegisterCallbacks,                                                              \
      (void (*requested)(uint8_t **, size_t *, size_t *),                                          \
       void (*completed)(void *, uint32_t, uint8_t *, size_t, size_t)))                            \
    X(cuptiActivityEnable, (int kind))                                                             \
    X(cuptiActivityDisable, (int kind))                                                            \
    X(cuptiActivityFlushAll, (uint32_t flag))                                                      \
    X(cuptiActivityGetNextRecord, (uint8_t * buffer, size_t valid, void **record))                 \
    X(cuptiActivityGetNumDroppedRecords, (void *context, uint32_t stream, size_t *dropped))        \
    X(cuptiActivityPushExternalCorrelationId, (int kind, uint64_t id))                             \
    X(cuptiActivityPopExternalCorrelationId, (int kind, uint64_t *last))                           \
    X(cuptiGetStreamIdEx, (void *context, void *stream, uint8_t per_thread, uint32_t *id))

struct cupti {
    void *handle;
#define X(name, parameters) int(*name) parameters;
    CUPTI_FUNCTIONS(X)
#undef X
    pthread_mutex_t lock;
    struct cupti_log log;
    size_t dropped;
};

static const int kinds[] = {
    CUPTI_KIND_RUNTIME,
    CUPTI_KIND_EXTERNAL_CORRELATION,
    CUPTI_KIND_CONCURRENT_KERNEL,
    CUPTI_KIND_MEMCPY,
    CUPTI_KIND_MEMSET,
    CUPTI_KIND_SYNCHRONIZATION,
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static struct cupti *the_one; /* CUPTI's callbacks have no argument of their user's */
static atomic_bool recording;
static _Thread_local unsigned entered;

/* ---- buffers */

static void buffer_requested(uint8_t **buffer, size_t *bytes, size_t *most)
{
    *buffer = aligned_alloc(BUFFER_ALIGNMENT, BUFFER_BYTES);
    *bytes = *buffer ? BUFFER_BYTES : 0;
    *most = 0; /* as many as fit */
}

static void buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                             size_t valid)
{
    struct cupti *cupti = the_one;
    void *record = NULL;
    (void)bytes;
    if (cupti && buffer) {
        size_t dropped = 0;
        pthread_mutex_lock(&cupti->lock);
        while (valid && cupti->cuptiActivityGetNextRecord(buffer, valid, &record) == OK)
            cupti_log_add(&cupti->log, record);
        if (cupti->cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == OK)
            cupti->dropped += dropped;
        pthread_mutex_unlock(&cupti->lock);
    }
    free(buffer);
}

/* ---- opening */

static bool explain(const struct cupti *cupti, int result, struct err *err)
{
    const char *text = NULL;
    switch (result) {
    case PRIVILEGES:
    case VIRTUALIZED_PRIVILEGES:
        return err_set(err, "%s",
                       _("this machine keeps the GPU's activity records for administrators; one of "
                         "them can allow it with the driver's option "
                         "NVreg_RestrictProfilingToAdminUsers=0"));
    case VIRTUALIZED:
        return err_set(err, "%s", _("this virtual GPU gives no activity records"));
    case CONFIDENTIAL:
        return err_set(err, "%s", _("a GPU in confidential computing gives no activity records"));
    case WSL:
        return err_set(err, "%s", _("CUPTI gives no activity records in this WSL"));
    case SUBSCRIBED:
        return err_set(err, "%s",
                       _("another profiler is attached, and CUPTI serves one at a time"));
    case NOT_COMPATIBLE:
        return err_set(err, "%s", _("CUPTI does not work with this GPU or driver"));
    default:
        if (cupti->cuptiGetResultString(result, &text) != OK || !text)
            text = "?";
        return err_set(err, _("CUPTI gives no activity records: %s (%d)"), text, result);
    }
}

static bool look_up(struct cupti *cupti, struct err *err)
{
#define X(name, parameters)                                                                        \
    *(void **)(&cupti->name) = dlsym(cupti->handle, #name);                                        \
    if (!cupti->name)                                                                              \
        return err_set(err, _("this CUPTI has no function %s"), #name);
    CUPTI_FUNCTIONS(X)
#undef X
    return true;
}

static bool check_version(const struct cupti *cupti, struct err *err)
{
    uint32_t version = 0;
    int result = cupti->cuptiGetVersion(&version);
    if (result != OK)
        return explain(cupti, result, err);
    if (version < VERSION_LEAST)
        return err_set(err, _("this CUPTI (version %u) is older than CUDA 12"), version);
    return true;
}

/* Where records are not permitted, enabling one of them says so. */
static bool may_record(const struct cupti *cupti, struct err *err)
{
    int result = cupti->cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed);
    if (result == OK)
        result = cupti->cuptiActivityEnable(CUPTI_KIND_CONCURRENT_KERNEL);
    if (result == OK)
        result = cupti->cuptiActivityDisable(CUPTI_KIND_CONCURRENT_KERNEL);
    return result == OK || explain(cupti, result, err);
}

struct cupti *cupti_open(const char *path, struct err *err)
{
    if (the_one) {
        err_set(err, "CUPTI is open already");
        return NULL;
    }
    struct cupti *cupti = mem_zero(1, sizeof *cupti);
    pthread_mutex_init(&cupti->lock, NULL);
    cupti->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!cupti->handle)
        err_set(err, _("CUPTI cannot be opened: %s"), dlerror());
    else if (look_up(cupti, err) && check_version(cupti, err)) {
        the_one = cupti;
        if (may_record(cupti, err))
            return cupti;
    }
    cupti_close(cupti);
    return NULL;
}

/* The library stays: its callbacks may still be on their way. */
void cupti_close(struct cupti *cupti)
{
    if (!cupti)
        return;
    if (the_one == cupti) {
        if (atomic_load(&recording))
            for (int i = 0; i < KINDS; i++)
                cupti->cuptiActivityDisable(kinds[i]);
        atomic_store(&recording, false);
        cupti->cuptiActivityFlushAll(FLUSH_FORCED);
        the_one = NULL;
    }
    cupti_log_free(&cupti->log);
    pthread_mutex_destroy(&cupti->lock);
    free(cupti);
}

/* ---- recording */

static void forget(struct cupti *cupti)
{
    cupti->cuptiActivityFlushAll(FLUSH_FORCED);
    pthread_mutex_lock(&cupti->lock);
    cupti_log_free(&cupti->log);
    cupti->dropped = 0;
    pthread_mutex_unlock(&cupti->lock);
}

static void disable(struct cupti *cupti, int count)
{
    for (int i = 0; i < count; i++)
        cupti->cuptiActivityDisable(kinds[i]);
}

bool cupti_start(struct cupti *cupti, struct err *err)
{
    forget(cupti);
    for (int i = 0; i < KINDS; i++) {
        int result = cupti->cuptiActivityEnable(kinds[i]);
        if (result != OK) {
            disable(cupti, i);
            return explain(cupti, result, err);
        }
    }
    atomic_store(&recording, true);
    return true;
}

/* "void work<4>(float*, int)" is called work<4>. */
static void plain_name(const char *name, char *out, size_t len)
{
    char *(*demangle)(const char *, char *, size_t *, int *);
    *(void **)(&demangle) = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    char *whole = demangle ? demangle(name, NULL, NULL, NULL) : NULL;
    const char *from = whole ? whole : name;
    if (strncmp(from, "void ", 5) == 0)
        from += 5;
    static const char unnamed[] = "(anonymous namespace)::";
    if (strncmp(from, unnamed, sizeof unnamed - 1) == 0)
        from += sizeof unnamed - 1;
    size_t depth = 0, used = 0;
    for (; from[used] && (depth || from[used] != '('); used++)
        depth += from[used] == '<' ? 1 : from[used] == '>' && depth ? (size_t)-1 : 0;
    snprintf(out, len, "%.*s", (int)(used < len ? used : len - 1), from);
    free(whole);
}

/* CUPTI's number of the calling thread's context's default stream, or UINT32_MAX. */
static uint32_t find_default_stream(const struct cupti *cupti)
{
    void *context = NULL;
    uint32_t id;
    int (*current)(void **context) = NULL;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (driver) {
        *(void **)(&current) = dlsym(driver, "cuCtxGetCurrent");
        dlclose(driver);
    }
    if (!current || current(&context) != 0 || !context ||
        cupti->cuptiGetStreamIdEx(context, NULL, 0, &id) != OK)
        return UINT32_MAX;
    return id;
}

bool cupti_stop(struct cupti *cupti, int (*line_of)(const void *site), struct spans *out,
                struct err *err)
{
    atomic_store(&recording, false);
    int result = cupti->cuptiActivityFlushAll(FLUSH_FORCED);
    disable(cupti, KINDS);
    struct cupti_reading reading = {find_default_stream(cupti), line_of, plain_name};
    if (result != OK)
        return explain(cupti, result, err);
    pthread_mutex_lock(&cupti->lock);
    size_t dropped = cupti->dropped;
    cupti_log_spans(&cupti->log, &reading, out);
    cupti_log_free(&cupti->log);
    pthread_mutex_unlock(&cupti->lock);
    return !dropped || err_set(err, _("CUPTI lost %zu of its records"), dropped);
}

void cupti_enter(const void *site)
{
    if (!atomic_load_explicit(&recording, memory_order_relaxed))
        return;
    if (the_one->cuptiActivityPushExternalCorrelationId(EXTERNAL_CUSTOM,
                                                        (uint64_t)(uintptr_t)site) == OK)
        entered++;
}

void cupti_leave(void)
{
    if (!entered)
        return;
    entered--;
    if (the_one)
        the_one->cuptiActivityPopExternalCorrelationId(EXTERNAL_CUSTOM, NULL);
}

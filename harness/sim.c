/* Holds the simulator's place until it lands: says that it is missing. */
#include "backend.h"

#include "harness/base/msg.h"

bool sim_open(struct backend **out, int threads, struct err *err)
{
    (void)threads;
    *out = NULL;
    return err_set(err, "%s", _("the simulator is not part of this build"));
}

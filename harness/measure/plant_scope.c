/* SPDX-License-Identifier: MIT */
#include "measure/plant_scope.h"

#include "base/strbuf.h"
#include "measure/plant.h"
#include "profile/summary.h"

#include <stdio.h>
#include <string.h>

static void finish(void *context, const char *scope)
{
    const struct plant_scope *plant = context;

    if (plant->steps > 0 && strcmp(scope, plant->operation) == 0)
        plant_work(plant->steps);
}

int plant_scope_init(struct plant_scope *plant, const char *operation, double share,
                     struct error *err)
{
    if (!(share > 0 && share <= 10))
        return error_set(err, "a slow-down of %g cannot be planted: a share above 0, at most 10",
                         share);
    *plant = (struct plant_scope) { .operation = operation,
                                    .share = share,
                                    .hooks = { .context = plant, .finish = finish } };
    return prof_set_hooks(prof_global(), &plant->hooks) ? error_set(err, "no memory for a profile")
                                                        : 0;
}

static int no_such(const struct plant_scope *plant, const struct prof_summary *summary,
                   struct error *err)
{
    struct strbuf names;

    strbuf_init(&names);
    for (size_t i = 0; i < summary->nr_rows; i++)
        strbuf_addf(&names, "%s%s", i ? ", " : "", summary->rows[i].name);
    error_set(err, "there is no operation \"%s\" to plant a slow-down in; there are: %s",
              plant->operation, names.data);
    strbuf_release(&names);
    return -1;
}

static int grow(struct plant_scope *plant, const struct prof_summary *summary, struct error *err)
{
    const struct prof_row *row = prof_summary_row(summary, PROF_HOST, plant->operation);
    struct plant_cost cost = plant_calibrate();

    if (!row)
        return no_such(plant, summary, err);
    return plant_steps(&cost, plant->share * (double)row->p50, &plant->steps, err);
}

int plant_scope_grow(struct plant_scope *plant, struct error *err)
{
    struct prof_summary summary;
    struct prof_trace trace;

    if (prof_snapshot(prof_global(), &trace))
        return error_set(err, "no memory for a profile");
    int rc = prof_summarise(&trace, &summary);
    if (rc) {
        error_set(err, "no memory for a profile");
    } else {
        rc = grow(plant, &summary, err);
        prof_summary_release(&summary);
    }
    prof_trace_release(&trace);
    return rc;
}

void plant_scope_remove(struct plant_scope *plant)
{
    if (plant->operation)
        prof_set_hooks(prof_global(), NULL);
    plant->operation = NULL;
}

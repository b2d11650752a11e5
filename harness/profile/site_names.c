/* SPDX-License-Identifier: MIT */
#include "profile/site_names.h"

#include "profile/profile_parts.h"

#include <stdlib.h>
#include <string.h>

int prof_site_seen(struct prof_site_names *names, const struct prof_site *site)
{
    if (site == names->last)
        return 0;
    const int *place = prof_map_at(&names->places, (uint64_t)(uintptr_t)site, 0, (int)names->nr);
    if (!place)
        return -1;
    names->last = site;
    if ((size_t)*place < names->nr)
        return 0;
    if (names->nr == names->capacity) {
        size_t capacity = names->capacity ? names->capacity * 2 : 64;
        void *more = realloc(names->items, capacity * sizeof(*names->items));
        if (!more)
            return -1;
        names->items = more;
        names->capacity = capacity;
    }
    names->items[names->nr++] = (struct prof_site_name) { site, NULL };
    return 0;
}

/* One place in the source, whichever object file has it. */
static int is_same_place(const struct prof_site *a, const struct prof_site *b)
{
    return a->line == b->line && !strcmp(a->file ? a->file : "", b->file ? b->file : "");
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* "init (main.c:12)"; with the whole path where that is another place's, too. */
static const char *place_text(struct prof_trace *trace, const struct prof_site *site, int is_whole)
{
    const char *file = site->file && site->file[0] ? site->file : NULL;
    size_t size = strlen(site->name) + (file ? strlen(file) : 0) + 32;
    char *text = file ? malloc(size) : NULL;

    if (!file)
        return prof_trace_text(trace, site->name);
    if (!text)
        return NULL;
    snprintf(text, size, "%s (%s:%d)", site->name, is_whole ? file : file_name(file), site->line);
    const char *kept = prof_trace_text(trace, text);
    free(text);
    return kept;
}

/* The first site of each text; `shared` of its items are those with a text that another place has.
 * -1: no memory. */
static int find_shared(const struct prof_site_names *names, unsigned char *shared)
{
    struct prof_map texts = { NULL, 0, 0 };
    int rc = 0;

    for (size_t i = 0; i < names->nr && rc == 0; i++) {
        const int *first = prof_map_name(&texts, names->items[i].text, 0, (int)i);
        rc = first ? 0 : -1;
        if (first && !is_same_place(names->items[*first].site, names->items[i].site))
            shared[*first] = shared[i] = 1;
    }
    /* Others at the first one's place. */
    for (size_t i = 0; i < names->nr && rc == 0; i++) {
        const int *first = prof_map_name(&texts, names->items[i].text, 0, (int)i);
        rc = first ? 0 : -1;
        shared[i] |= first ? shared[*first] : 0;
    }
    prof_map_release(&texts);
    return rc;
}

int prof_site_names_choose(struct prof_site_names *names, struct prof_trace *trace)
{
    int rc = 0;

    for (size_t i = 0; i < names->nr && rc == 0; i++) {
        names->items[i].text = prof_trace_text(trace, names->items[i].site->name);
        rc = names->items[i].text ? 0 : -1;
    }
    for (int is_whole = 0; is_whole < 2 && rc == 0; is_whole++) {
        unsigned char *shared = calloc(names->nr + 1, 1);
        rc = shared ? find_shared(names, shared) : -1;
        for (size_t i = 0; i < names->nr && rc == 0; i++) {
            if (!shared[i])
                continue;
            names->items[i].text = place_text(trace, names->items[i].site, is_whole);
            rc = names->items[i].text ? 0 : -1;
        }
        free(shared);
    }
    return rc;
}

const char *prof_site_text(const struct prof_site_names *names, const struct prof_site *site)
{
    const int *place = prof_map_find(&names->places, (uint64_t)(uintptr_t)site, 0);

    return place ? names->items[*place].text : site->name;
}

void prof_site_names_release(struct prof_site_names *names)
{
    free(names->items);
    prof_map_release(&names->places);
    *names = (struct prof_site_names) { .nr = 0 };
}

/* ---- sites of names that are known at run time only ---- */

static struct prof_named **site_place(struct prof_named **places, size_t size, const char *name)
{
    size_t i = prof_text_hash(name) & (size - 1);

    while (places[i] && strcmp(places[i]->name, name) != 0)
        i = (i + 1) & (size - 1);
    return &places[i];
}

static int sites_grow(struct prof_sites *sites)
{
    size_t size = sites->size ? sites->size * 2 : 64;
    struct prof_named **places = calloc(size, sizeof(*places));

    if (!places)
        return -1;
    for (size_t i = 0; i < sites->size; i++) {
        if (sites->places[i])
            *site_place(places, size, sites->places[i]->name) = sites->places[i];
    }
    free(sites->places);
    sites->places = places;
    sites->size = size;
    return 0;
}

const struct prof_site *prof_sites_find(struct prof_sites *sites, const char *name)
{
    size_t size = strlen(name) + 1;

    if (sites->nr * 2 >= sites->size && sites_grow(sites) != 0)
        return NULL;
    struct prof_named **place = site_place(sites->places, sites->size, name);
    if (*place)
        return &(*place)->site;
    struct prof_named *added = malloc(sizeof(*added) + size);
    if (!added)
        return NULL;
    memcpy(added->name, name, size);
    added->site = (struct prof_site) { added->name, "", "", 0 };
    *place = added;
    sites->nr++;
    return &added->site;
}

void prof_sites_release(struct prof_sites *sites)
{
    for (size_t i = 0; i < sites->size; i++)
        free(sites->places[i]);
    free(sites->places);
    *sites = (struct prof_sites) { NULL, 0, 0 };
}

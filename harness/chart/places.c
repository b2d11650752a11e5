/* SPDX-License-Identifier: MIT */
#include "chart/places.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/resource.h"

#include <pthread.h>
#include <string.h>

static pthread_once_t places_once = PTHREAD_ONCE_INIT;
static struct place places[PLACES_MAX];
static size_t nr_places;

static char *place_text(const cJSON *place, const char *key)
{
    return memory_string(json_string(place, key, ""));
}

/* The file is built in: what is wrong in it is found by a test. */
static void places_read(void)
{
    const struct resource *resource = resource_find("plots/places.json");
    struct error ignored;
    cJSON *file = json_parse(resource->data, resource->length, resource->name, &ignored);
    const cJSON *one;

    cJSON_ArrayForEach(one, file)
    {
        if (one->string[0] != '_' && nr_places < PLACES_MAX)
            places[nr_places++] = (struct place) {
                .name = memory_string(one->string),
                .filter = place_text(one, "filter"),
                .words = place_text(one, "words"),
                .chapter = place_text(one, "chapter"),
            };
    }
    cJSON_Delete(file);
}

const struct place *place_at(size_t i)
{
    pthread_once(&places_once, places_read);
    return i < nr_places ? &places[i] : NULL;
}

const struct place *place_named(const char *name)
{
    const struct place *place = NULL;

    for (size_t i = 0; (place = place_at(i)); i++)
        if (strcmp(place->name, name) == 0)
            break;
    return place;
}

const struct place *place_of_glob(const char *glob)
{
    const struct place *place = NULL;
    size_t part = strcspn(glob, "/");

    for (size_t i = 0; (place = place_at(i)); i++)
        if (strcspn(place->filter, "/") == part && strncmp(place->filter, glob, part) == 0)
            break;
    return place;
}

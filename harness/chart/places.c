/* SPDX-License-Identifier: MIT */
#include "chart/places.h"

#include "base/json.h"
#include "base/resource.h"

#include <pthread.h>
#include <string.h>

static pthread_once_t places_once = PTHREAD_ONCE_INIT;
static cJSON *places_file; /* which the rows borrow from */
static struct place places[PLACES_MAX];
static size_t nr_places;

/* The file is built in: what is wrong in it is found by a test. */
static void places_read(void)
{
    const struct resource *file = resource_find("plots/places.json");
    const cJSON *one;
    struct error ignored;

    places_file = json_parse(file->data, file->length, file->name, &ignored);
    cJSON_ArrayForEach(one, places_file)
    {
        if (one->string[0] != '_' && nr_places < PLACES_MAX)
            places[nr_places++] = (struct place) {
                .name = one->string,
                .filter = json_string(one, "filter", ""),
                .words = json_string(one, "words", ""),
                .chapter = json_string(one, "chapter", ""),
            };
    }
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

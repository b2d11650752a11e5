/* SPDX-License-Identifier: MIT */
#include "chart/chapter.h"
#include "chart/places.h"

#include <string.h>

const char *const chapter_names[] = { "overview", "kernels", "models",  "comparison",
                                      "history",  "machine", "profile", NULL };

/* By its section alone. */
static const struct {
    const char *section, *chapter;
} chapters[] = {
    { "verdict", "comparison" }, { "trend", "history" },   { "models", "models" },
    { "run", "machine" },        { "profile", "profile" },
};

const char *chapter_of(const struct preset *preset)
{
    if (preset->chapter)
        return preset->chapter;
    if (strcmp(preset->type->name, "overview") == 0)
        return "overview";
    for (size_t i = 0; i < sizeof(chapters) / sizeof(chapters[0]); i++)
        if (strcmp(preset->section, chapters[i].section) == 0)
            return chapters[i].chapter;
    const struct place *place = preset->filter.nr ? place_of_glob(preset->filter.items[0]) : NULL;
    return place ? place->chapter : "kernels";
}

/* SPDX-License-Identifier: MIT */
#include "chart/chapter.h"

#include <string.h>

/* By its section alone. */
static const struct {
    const char *section, *chapter;
} chapters[] = {
    { "verdict", "comparison" }, { "trend", "history" },   { "models", "models" },
    { "run", "machine" },        { "profile", "profile" },
};

/* Does it show forward passes and nothing else? */
static bool chapter_is_models(const struct preset *preset)
{
    return preset->filter.nr > 0 && strncmp(preset->filter.items[0], "gpt", 3) == 0;
}

const char *chapter_of(const struct preset *preset)
{
    if (strcmp(preset->type->name, "overview") == 0)
        return "overview";
    for (size_t i = 0; i < sizeof(chapters) / sizeof(chapters[0]); i++)
        if (strcmp(preset->section, chapters[i].section) == 0)
            return chapters[i].chapter;
    return chapter_is_models(preset) ? "models" : "kernels";
}

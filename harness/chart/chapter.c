/* SPDX-License-Identifier: MIT */
#include "chart/chapter.h"
#include "chart/preset.h"

#include <string.h>

/* By its section alone. */
static const struct {
    const char *section, *chapter;
} chapters[] = {
    { "verdict", "comparison" }, { "trend", "history" },   { "models", "models" },
    { "run", "machine" },        { "profile", "profile" },
};

const char *chapter_of(const struct preset *preset)
{
    if (strcmp(preset->type->name, "overview") == 0)
        return "overview";
    for (size_t i = 0; i < sizeof(chapters) / sizeof(chapters[0]); i++)
        if (strcmp(preset->section, chapters[i].section) == 0)
            return chapters[i].chapter;
    return preset_is_of_models(preset) ? "models" : "kernels";
}

/* SPDX-License-Identifier: MIT */
/* chart/base/profile_facts.h: profile.json. */
#include "fuzz.h"

#include "chart/base/profile_facts.h"

FUZZ_TARGET(profile_json)
{
    struct profile_facts facts;
    struct error err;

    if (profile_facts_read(fuzz_file(data, size), &facts, &err) == 0)
        FUZZ_CHECK(facts.cost.on >= 0 && facts.roofs.flops >= 0 && facts.launches >= 0);
}

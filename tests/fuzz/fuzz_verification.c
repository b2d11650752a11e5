/* SPDX-License-Identifier: MIT */
/* measure/verification.h: the record of what was right on a device. */
#include "fuzz.h"

#include "measure/verification.h"

#include <cjson/cJSON.h>

FUZZ_TARGET(verification)
{
    struct verification_list list = { 0 };
    struct error err;
    char text[VERIFICATION_TEXT];

    if (verification_parse((const char *)data, size, "text", &list, &err) == 0)
        for (size_t i = 0; i < list.nr; i++) {
            const struct verification *v = &list.items[i];
            FUZZ_CHECK(verification_find(&list, v->kernel, v->variant));
            verification_describe(v, "", text);
            cJSON_Delete(verification_to_json(v));
        }
    verification_release(&list);
}

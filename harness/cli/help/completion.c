/* SPDX-License-Identifier: MIT */
#include "cli/help/completion.h"

#include "cli/help/completion_base.h"

#include <string.h>

int completion_write(const char *shell, struct strbuf *out, struct error *err)
{
    static const struct {
        const char *name;
        void (*write)(struct strbuf *out);
    } shells[] = {
        { "bash", completion_bash },
        { "zsh", completion_zsh },
        { "fish", completion_fish },
    };

    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].write(out);
            return 0;
        }
    return error_set(err, "--completion: no shell \"%s\"; there are bash, zsh, fish", shell);
}

/* SPDX-License-Identifier: MIT */
/* seal_history FILE: each page of a watched history gets the checksum of what it holds now, as if
 * harness had written it. For tests that change a file past harness. */
#include "base/file.h"
#include "vfs/page.h"
#include "vfs/page_checksum.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    struct error err;
    size_t length = 0;
    char *bytes = argc == 2 ? file_read(argv[1], FILE_RECORDS_MOST, &length, &err) : NULL;
    int rc = 1;

    if (bytes && length >= PAGE_USUAL && bytes[HEADER_RESERVED] == PAGE_CHECKSUM_BYTES) {
        for (size_t at = 0; at + PAGE_USUAL <= length; at += PAGE_USUAL)
            page_checksum_seal((unsigned char *)bytes + at, PAGE_USUAL,
                               (uint32_t)(at / PAGE_USUAL) + 1);
        rc = file_write(argv[1], bytes, length, &err) ? 1 : 0;
    }
    if (rc)
        fprintf(stderr, "seal_history: not the path of a watched history\n");
    free(bytes);
    return rc;
}

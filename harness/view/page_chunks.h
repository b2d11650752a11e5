/* SPDX-License-Identifier: MIT */
/* Which runs have their raw samples in a file of limited size, and how many of them. */
#ifndef HARNESS_VIEW_PAGE_CHUNKS_H
#define HARNESS_VIEW_PAGE_CHUNKS_H

#include "base/options.h"
#include "view/page_file.h"

/* The samples of one run. */
struct page_chunk {
    int run;
    size_t most, packed; /* of a launch, 0: all; bytes in the file, by itself */
    struct page_samples count;
    char *text; /* page_samples_of_run(); owned */
};

struct page_chunks {
    struct page_chunk *items; /* in the order in which they got room */
    size_t nr, capacity;
};

/* As the choice says, within `room` bytes; PAGE_SAMPLES_ALL looks at no room. */
void page_chunks_choose(struct page_chunks *chunks, const struct page *page,
                        enum page_samples_choice choice, size_t room);
void page_chunks_drop_last(struct page_chunks *chunks);
void page_chunks_release(struct page_chunks *chunks);
/* The samples block; nothing where there are none. */
void page_chunks_pack(const struct page_chunks *chunks, struct strbuf *out);
/* Appends what was thinned, and how many runs have no samples in the file. */
void page_chunks_note(const struct page_chunks *chunks, const struct page *page,
                      enum page_samples_choice choice, struct string_list *notes);

#endif

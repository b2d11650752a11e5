/* SPDX-License-Identifier: MIT */
/* Which acceptances hold in a comparison. */
#include "base/array.h"
#include "base/strbuf.h"
#include "reporters/verdict_json.h"
#include "session/acceptance.h"
#include "session/builds/git.h"
#include "session/history_file.h"
#include "store/verdicts.h"

#include <string.h>

static bool is_hash_text(const char *text)
{
    return *text && text[strspn(text, "0123456789abcdef")] == '\0';
}

/* Its exit status, and whether it said nothing. */
static int ask_git(const char *const *arguments, bool *silent)
{
    struct error ignored;
    struct strbuf out;

    strbuf_init(&out);
    int status = git_try(arguments, &out, &ignored);
    *silent = out.length == 0;
    strbuf_release(&out);
    return status;
}

/* What was amended, rebased or squashed is in no branch or tag any more. This clone may have it
 * still, as one that is made now would not. What is checked out may have no branch, as in CI. */
static bool is_left_behind(const char *commit)
{
    const char *const here[] = { "merge-base", "--is-ancestor", commit, "HEAD", NULL };
    const char *const names[] = { "for-each-ref", "--count=1", "--contains",   commit,
                                  "refs/heads",   "refs/tags", "refs/remotes", NULL };
    bool silent;

    return ask_git(here, &silent) != 0 && ask_git(names, &silent) == 0 && silent;
}

/* 1: `commit` is `of` or an ancestor of it, 0: it is not, -1: git cannot tell, because it is not
 * there, or does not know them, or others would not. */
static int is_ancestor(const char *commit, const char *of)
{
    const char *const arguments[] = { "merge-base", "--is-ancestor", commit, of, NULL };
    bool silent;

    if (*commit && strcmp(commit, of) == 0)
        return 1;
    if (!is_hash_text(commit) || !is_hash_text(of))
        return -1;
    int status = ask_git(arguments, &silent);
    if (status == 1)
        return is_left_behind(commit) ? -1 : 0;
    return status == 0 ? 1 : -1;
}

/* Was it measured when the change had been seen? The runs in which it was seen count as such. */
static bool began_with_change(const struct records *runs, const struct acceptance *a)
{
    int64_t first = history_first_start(runs, a->machine);

    return a->seen_ms ? first >= a->seen_ms : first > a->accepted_ms;
}

/* What the recorded comparisons tell in which it was seen. */
struct sighting {
    bool beside_commit; /* the base was of that very commit: it does not name the change */
    bool beside_base;   /* the base was this one: it does not have the change */
};

static bool is_equal_side(const struct evidence_side *a, const struct evidence_side *b)
{
    bool equal = a->nr == b->nr && a->nr > 0;

    for (size_t i = 0; equal && i < a->nr; i++)
        equal = a->values[i].value == b->values[i].value;
    return equal;
}

/* A record names no runs, but it has all values of the base, to the last digit. */
static bool is_base_of(const struct compare_item *item, const struct store_verdict *v)
{
    struct kept_items kept = { 0 };
    struct error ignored;
    bool is = kept_items_add(&kept, v->key, v->machine, v->metric, v->evidence, &ignored) == 0 &&
              is_equal_side(&kept.items[0].evidence.base, &item->evidence.base);

    kept_items_release(&kept);
    return is;
}

static bool is_alarm(const struct store_verdict *v)
{
    return strcmp(v->verdict, verdict_name(VERDICT_REGRESSED)) == 0 ||
           strcmp(v->verdict, verdict_name(VERDICT_BROKEN)) == 0;
}

/* Of the class that it was accepted of: rows of any machine have none. */
static int find_sighting(struct store *store, const struct acceptance *a,
                         const struct compare_item *item, struct sighting *seen, struct error *err)
{
    struct store_comparisons list = { 0 };
    int rc = store_verdict_seen(store, a, a->machine, &list, err);

    *seen = (struct sighting) { .beside_base = false };
    for (size_t i = 0; rc == 0 && i < list.nr; i++) {
        const struct store_verdict *v = &list.items[i].items[0];
        if (!is_alarm(v))
            continue;
        seen->beside_commit |= strcmp(list.items[i].base_commit, a->commit) == 0;
        seen->beside_base |= is_base_of(item, v);
    }
    store_comparisons_release(&list);
    return rc;
}

/* Does the base have the accepted change already? Then it excuses nothing any more. Where the base
 * is of the very commit in which it was seen, and so was what that was compared with, or is the
 * head (uncommitted changes), git says nothing. Nor does time where both sides are measured now, in
 * turn, or of the base that it was seen beside: imports may all have one date, and clocks go back.
 * The base is that of the row's machine class, for which `a` is: others may have another commit. */
static bool base_has_change(const struct verdict_sides *sides, const struct acceptance *a,
                            enum compare_design design, const struct sighting *seen)
{
    const char *base = verdict_side_commit(sides->base_records, a->machine),
               *head = verdict_side_commit(sides->head_records, a->machine);
    bool unnamed = strcmp(base, a->commit) == 0 && (seen->beside_commit || strcmp(base, head) == 0);
    int ancestor = unnamed ? -1 : is_ancestor(a->commit, base);

    if (ancestor >= 0)
        return ancestor;
    return design != DESIGN_BLOCKS && !seen->beside_base &&
           began_with_change(sides->base_records, a);
}

/* The alarm that needs it, if any. */
static const struct compare_row *find_alarm(const struct comparison *c, const struct acceptance *a)
{
    for (size_t i = 0; i < c->nr; i++)
        if (compare_acceptance_fits(a, &c->rows[i]))
            return &c->rows[i];
    return NULL;
}

/* As it holds for these rows. Where machine classes are not told apart a row has none: what was
 * accepted of the class of all the head's runs is of any row then. Borrows its texts. */
static struct acceptance acceptance_of_rows(const struct acceptance *a,
                                            const struct verdict_sides *sides,
                                            const struct comparison *c)
{
    struct acceptance of_rows = *a;

    if (c->settings.any_machine &&
        strcmp(a->machine, verdict_side_machine(sides->head_records)) == 0)
        of_rows.machine = "";
    return of_rows;
}

/* Of those that fit an alarm, each for its row, and whose change the base does not have: an
 * acceptance speaks of heads that contain its commit, as far as git can tell. They borrow their
 * texts. */
struct acceptance_lists {
    ARRAY(struct acceptance) holding, elsewhere;
};

/* `a`: for the rows of the alarm's machine class. */
static int add_acceptance_to(struct acceptance_lists *lists, struct store *store,
                             const struct verdict_sides *sides, const struct acceptance *accepted,
                             const struct acceptance *a, const struct compare_row *alarm,
                             struct error *err)
{
    struct sighting seen;

    if (find_sighting(store, accepted, alarm->item, &seen, err))
        return -1;
    if (base_has_change(sides, a, alarm->item->evidence.design, &seen))
        return 0;
    if (is_ancestor(a->commit, verdict_side_commit(sides->head_records, a->machine)) != 0)
        *array_push(&lists->holding) = *a;
    else
        *array_push(&lists->elsewhere) = *a;
    return 0;
}

/* For the alarms that need it alone, as asking git takes time. What was accepted of any machine may
 * fit those of several classes: each has a base of its own, which may have the change already. */
static int add_acceptance_of_rows(struct acceptance_lists *lists, struct store *store,
                                  const struct verdict_sides *sides, const struct comparison *c,
                                  const struct acceptance *accepted, struct error *err)
{
    const struct acceptance a = acceptance_of_rows(accepted, sides, c);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < c->nr; i++) {
        struct acceptance of_class = a;
        if (!compare_acceptance_fits(&a, &c->rows[i]))
            continue;
        of_class.machine = (char *)c->rows[i].item->machine;
        rc = add_acceptance_to(lists, store, sides, accepted, &of_class, &c->rows[i], err);
    }
    return rc;
}

/* Why changes count that somebody has accepted. */
static void note_elsewhere(struct comparison *c, const struct acceptance *items, size_t nr)
{
    const struct acceptance *first = NULL;
    size_t more = 0;

    for (size_t i = 0; i < nr; i++) {
        const struct compare_row *alarm = find_alarm(c, &items[i]);
        bool is_told = !alarm || alarm->accepted;
        for (size_t j = 0; j < i && !is_told; j++)
            is_told = find_alarm(c, &items[j]) == alarm;
        if (is_told)
            continue;
        more += first != NULL;
        first = first ? first : &items[i];
    }
    if (first && more)
        comparison_note(c,
                        "%s and %zu more were accepted at commits that the head does not contain "
                        "(%.7s), so they count.",
                        first->key, more, first->commit);
    else if (first)
        comparison_note(c,
                        "%s was accepted at %.7s, which the head does not contain, so it counts.",
                        first->key, first->commit);
}

int acceptances_mark(struct store *store, const struct verdict_sides *sides, struct comparison *c,
                     struct store_acceptances *accepted, struct error *err)
{
    struct acceptance_lists lists = { ARRAY_EMPTY, ARRAY_EMPTY };
    int rc = store_acceptance_list(store, NULL, accepted, err);

    for (size_t i = 0; rc == 0 && i < accepted->nr; i++)
        rc = add_acceptance_of_rows(&lists, store, sides, c, &accepted->items[i], err);
    if (rc == 0 && lists.holding.nr)
        compare_accept(c, lists.holding.items, lists.holding.nr);
    if (rc == 0)
        note_elsewhere(c, lists.elsewhere.items, lists.elsewhere.nr);
    array_release(&lists.holding);
    array_release(&lists.elsewhere);
    return rc ? -1 : 0;
}

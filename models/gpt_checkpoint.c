/* SPDX-License-Identifier: MIT */
#include "models/gpt_checkpoint.h"

#include "base/memory.h"
#include "models/safetensors.h"

#include <stdlib.h>
#include <string.h>

/* A file held against a configuration. */
struct matching {
    const struct safetensors *file;
    const struct gpt_config *config;
    const struct safetensors_entry **found; /* [layers][GPT_TENSOR_NR] */
    int64_t layers;                         /* that the file has */
    struct error *err;
};

/* The name without the prefix that files written from GPT2LMHeadModel have. */
static const char *bare(const char *name)
{
    static const char prefix[] = "transformer.";

    return strncmp(name, prefix, strlen(prefix)) == 0 ? name + strlen(prefix) : name;
}

/* The N of "h.N.", or -1. */
static int64_t layer_of(const char *name)
{
    char *end;

    if (strncmp(name, "h.", 2) != 0 || name[2] < '0' || name[2] > '9')
        return -1;
    long long layer = strtoll(name + 2, &end, 10);
    return *end == '.' && layer < INT32_MAX ? layer : -1;
}

/* Old files hold the causal mask and its fill value as buffers of each layer. */
static bool is_buffer(const char *name)
{
    const char *rest = layer_of(name) >= 0 ? strchr(name + 2, '.') : NULL;

    return rest && (strcmp(rest, ".attn.bias") == 0 || strcmp(rest, ".attn.masked_bias") == 0);
}

/* The tensor that a name without prefix stands for; GPT_TENSOR_NR if it is none. */
static enum gpt_tensor tensor_of(const char *name)
{
    int64_t layer = layer_of(name);
    char expected[GPT_NAME_SIZE];

    for (int i = 0; i < GPT_TENSOR_NR; i++) {
        enum gpt_tensor which = (enum gpt_tensor)i;
        bool possible = gpt_weight_in_layer(which) == (layer >= 0);
        if (possible && strcmp(name, gpt_weight_name(which, layer, expected)) == 0)
            return which;
    }
    return GPT_TENSOR_NR;
}

static int match_entry(struct matching *m, const struct safetensors_entry *entry)
{
    const char *name = bare(entry->name);
    enum gpt_tensor which = tensor_of(name);
    int64_t layer = layer_of(name);

    if (is_buffer(name))
        return 0;
    if (which == GPT_TENSOR_NR)
        return error_set(m->err, "%s: \"%s\" is no tensor of a GPT-2", m->file->path, entry->name);
    if (layer >= m->layers)
        m->layers = layer + 1;
    if (layer >= m->config->layers)
        return 0; /* refused with all the sizes by check_sizes() */
    const struct safetensors_entry **slot =
        &m->found[(layer < 0 ? 0 : layer) * GPT_TENSOR_NR + which];
    if (*slot)
        return error_set(m->err, "%s: both \"%s\" and \"%s\" are there", m->file->path,
                         (*slot)->name, entry->name);
    *slot = entry;
    return 0;
}

/* The model of the table that has these sizes, or NULL. */
static const char *model_of_sizes(int64_t layers, int64_t width, int64_t block, int64_t vocab)
{
    for (const struct gpt_config *c = gpt_configs; c->name; c++)
        if (c->layers == layers && c->width == width && c->block == block && c->vocab == vocab)
            return c->name;
    return NULL;
}

/* Another model's file: say so with all sizes instead of naming the first odd tensor. */
static int check_sizes(const struct matching *m)
{
    const struct gpt_config *c = m->config;
    const struct safetensors_entry *wte = m->found[GPT_WTE], *wpe = m->found[GPT_WPE];

    if (!wte || !wpe || wte->rank != 2 || wpe->rank != 2)
        return 0; /* said by the checks that follow */
    int64_t vocab = wte->extent[0], width = wte->extent[1], block = wpe->extent[0];
    if (m->layers == c->layers && vocab == c->vocab && width == c->width && block == c->block)
        return 0;
    const char *other = model_of_sizes(m->layers, width, block, vocab);
    return error_set(m->err,
                     "%s: its sizes are layers %lld, width %lld, block %lld, vocabulary %lld, but "
                     "%s has %lld, %lld, %lld, %lld%s%s",
                     m->file->path, (long long)m->layers, (long long)width, (long long)block,
                     (long long)vocab, c->name, (long long)c->layers, (long long)c->width,
                     (long long)c->block, (long long)c->vocab,
                     other ? "; this is the size of " : "", other ? other : "");
}

/* Walks the tensors that the configuration asks for; the callback's -1 ends it. */
static int for_each(const struct gpt_config *c, bool tied,
                    int (*visit)(void *context, enum gpt_tensor which, int64_t layer),
                    void *context)
{
    for (int64_t layer = 0; layer < c->layers; layer++)
        for (int i = 0; i < GPT_TENSOR_NR; i++) {
            enum gpt_tensor which = (enum gpt_tensor)i;
            if ((layer > 0 && !gpt_weight_in_layer(which)) || (which == GPT_LM_HEAD && tied))
                continue;
            if (visit(context, which, layer))
                return -1;
        }
    return 0;
}

struct missing {
    const struct matching *m;
    int64_t nr;
    char first[GPT_NAME_SIZE];
};

static int count_missing(void *context, enum gpt_tensor which, int64_t layer)
{
    struct missing *missing = context;

    if (missing->m->found[layer * GPT_TENSOR_NR + which])
        return 0;
    if (missing->nr++ == 0)
        gpt_weight_name(which, layer, missing->first);
    return 0;
}

static int check_complete(const struct matching *m, bool tied)
{
    struct missing missing = { .m = m };

    for_each(m->config, tied, count_missing, &missing);
    if (missing.nr == 0)
        return 0;
    return error_set(m->err, "%s: %lld tensor%s of %s missing, the first is %s", m->file->path,
                     (long long)missing.nr, missing.nr > 1 ? "s" : "", m->config->name,
                     missing.first);
}

/* What a file holds of a tensor: [in, out] for the layers' matrices. */
static struct safetensors_entry stored_shape(const struct gpt_config *c, enum gpt_tensor which)
{
    struct safetensors_entry shape = { .rank = 1 };
    int64_t rows, cols;

    gpt_weight_extents(c, which, &rows, &cols);
    shape.rank = cols ? 2 : 1;
    shape.extent[0] = gpt_weight_is_linear(which) ? cols : rows;
    shape.extent[1] = gpt_weight_is_linear(which) ? rows : cols;
    return shape;
}

static int check_tensor(void *context, enum gpt_tensor which, int64_t layer)
{
    const struct matching *m = context;
    const struct safetensors_entry *entry = m->found[layer * GPT_TENSOR_NR + which];
    struct safetensors_entry want = stored_shape(m->config, which);
    char found_text[SAFETENSORS_SHAPE_SIZE], want_text[SAFETENSORS_SHAPE_SIZE];
    bool same = entry->rank == want.rank && entry->extent[0] == want.extent[0] &&
                (want.rank == 1 || entry->extent[1] == want.extent[1]);

    if (!same)
        return error_set(m->err, "%s: \"%s\" has shape %s, but %s needs %s", m->file->path,
                         entry->name, safetensors_shape(entry, found_text), m->config->name,
                         safetensors_shape(&want, want_text));
    if (strcmp(entry->dtype, "F32") != 0 && strcmp(entry->dtype, "F16") != 0 &&
        strcmp(entry->dtype, "BF16") != 0)
        return error_set(m->err, "%s: \"%s\" is %s; F32, F16 and BF16 can be read", m->file->path,
                         entry->name, entry->dtype);
    return 0;
}

/* to[cols, rows] = transpose of from[rows, cols], in tiles that stay in the L1 cache. */
static void transpose(const float *from, int64_t rows, int64_t cols, float *to)
{
    enum { TILE = 32 };

    for (int64_t r0 = 0; r0 < rows; r0 += TILE)
        for (int64_t c0 = 0; c0 < cols; c0 += TILE)
            for (int64_t r = r0; r < rows && r < r0 + TILE; r++)
                for (int64_t c = c0; c < cols && c < c0 + TILE; c++)
                    to[c * rows + r] = from[r * cols + c];
}

struct loading {
    const struct matching *m;
    const struct gpt_weights *w;
    float *turn; /* room for the largest matrix of a layer */
};

static int load_tensor(void *context, enum gpt_tensor which, int64_t layer)
{
    const struct loading *l = context;
    const struct safetensors_entry *entry = l->m->found[layer * GPT_TENSOR_NR + which];
    float *to = gpt_weight(l->w, which, layer);
    bool turned = gpt_weight_is_linear(which);

    if (safetensors_read(l->m->file, entry, turned ? l->turn : to, l->m->err))
        return -1;
    if (turned)
        transpose(l->turn, entry->extent[0], entry->extent[1], to);
    return 0;
}

static int load(struct gpt_weights *w, const struct matching *m)
{
    bool tied = m->found[GPT_LM_HEAD] == NULL;
    struct loading loading = { .m = m, .w = w };
    int rc = -1;

    if (check_sizes(m) || check_complete(m, tied) ||
        for_each(m->config, tied, check_tensor, (void *)m) ||
        gpt_weights_init(w, m->config, tied, m->err))
        return -1;
    size_t bytes = (size_t)gpt_weight_elements(m->config, GPT_FC_WEIGHT) * sizeof(float);
    loading.turn = malloc(bytes);
    if (!loading.turn)
        error_set(m->err, "%s: no memory for %zu bytes", m->file->path, bytes);
    else
        rc = for_each(m->config, tied, load_tensor, &loading);
    free(loading.turn);
    if (rc)
        gpt_weights_release(w);
    return rc;
}

int gpt_checkpoint_read(struct gpt_weights *w, const struct gpt_config *c, const char *path,
                        struct error *err)
{
    struct safetensors file;
    int rc = 0;

    *w = (struct gpt_weights) { .config = c };
    if (gpt_config_check(c, err) || safetensors_open(&file, path, err))
        return -1;
    struct matching m = { .file = &file, .config = c, .err = err };
    m.found = memory_zeroed((size_t)c->layers * GPT_TENSOR_NR, sizeof(const void *));
    for (size_t i = 0; rc == 0 && i < file.nr; i++)
        rc = match_entry(&m, &file.items[i]);
    if (rc == 0)
        rc = load(w, &m);
    free(m.found);
    safetensors_close(&file);
    return rc;
}

/* One tensor on its way to a file. */
struct saved {
    const struct gpt_weights *w;
    enum gpt_tensor which;
    int64_t layer;
    char name[GPT_NAME_SIZE];
};

static void save_tensor(const struct safetensors_source *source, float *out)
{
    const struct saved *s = source->context;
    const float *from = gpt_weight(s->w, s->which, s->layer);
    int64_t rows, cols;

    gpt_weight_extents(s->w->config, s->which, &rows, &cols);
    if (gpt_weight_is_linear(s->which))
        transpose(from, rows, cols, out);
    else
        memcpy(out, from, (size_t)gpt_weight_elements(s->w->config, s->which) * sizeof(*out));
}

struct saving {
    const struct gpt_weights *w;
    struct saved *saved;
    struct safetensors_source *sources;
    size_t nr;
};

static int add_source(void *context, enum gpt_tensor which, int64_t layer)
{
    struct saving *s = context;
    struct saved *saved = &s->saved[s->nr];
    struct safetensors_source *source = &s->sources[s->nr++];
    struct safetensors_entry shape = stored_shape(s->w->config, which);

    *saved = (struct saved) { .w = s->w, .which = which, .layer = layer };
    *source = (struct safetensors_source) { .name = gpt_weight_name(which, layer, saved->name),
                                            .rank = shape.rank,
                                            .fill = save_tensor,
                                            .context = saved };
    memcpy(source->extent, shape.extent, sizeof(source->extent));
    return 0;
}

int gpt_checkpoint_write(const struct gpt_weights *w, const char *path, struct error *err)
{
    size_t most = (size_t)w->config->layers * GPT_TENSOR_NR;
    struct saving s = { .w = w };

    s.saved = memory_zeroed(most, sizeof(*s.saved));
    s.sources = memory_zeroed(most, sizeof(*s.sources));
    for_each(w->config, w->tied, add_source, &s);
    int rc = safetensors_write(path, s.sources, s.nr, err);
    free(s.saved);
    free(s.sources);
    return rc;
}

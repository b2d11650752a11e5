/* SPDX-License-Identifier: MIT */
/*
 * Covers S0-01 (a real checkpoint's weights): the safetensors format read and written, malformed
 * files refused with the reason, and GPT-2's layout in it.
 */
#include "gpt_testing.h"

#include "base/file.h"
#include "models/gpt_checkpoint.h"
#include "models/safetensors.h"

#include <stdlib.h>

#define PATH       HARNESS_TEST_DIR "/test_safetensors.safetensors"
#define OTHER_PATH HARNESS_TEST_DIR "/test_safetensors_other.safetensors"

static const struct gpt_config small = {
    .name = "small", .layers = 2, .heads = 2, .width = 6, .block = 5, .vocab = 11
};

/* Writes length + header + `data` bytes of zeros; a negative length means the header's own. */
static void write_raw(const char *header, int64_t length, size_t data)
{
    size_t text = strlen(header), size = 8 + text + data;
    char *file = calloc(size, 1);
    uint64_t stated = length < 0 ? text : (uint64_t)length;
    struct error err;

    assert_non_null(file);
    memcpy(file, &stated, sizeof(stated));
    memcpy(file + 8, header, text);
    assert_ok(file_write(PATH, file, size, &err), &err);
    free(file);
}

static const struct malformed {
    const char *header;
    int64_t length;
    size_t data;
    const char *message;
} malformed[] = {
    { "", -1, 0, "header" },
    { "{}", 4096, 0, "said to have 4096 bytes, but only 2 follow" },
    { "{}", 200000000, 0, "beyond the format's limit" },
    { "{}", INT64_MAX, 0, "beyond the format's limit" },
    { "[1,2]", -1, 0, "not a JSON object" },
    { "{\"a\":", -1, 0, "not valid JSON" },
    { "{\"a\":3}", -1, 0, "not described by an object" },
    { "{\"__metadata__\":3}", -1, 0, "__metadata__ is not an object" },
    { "{\"a\":{\"dtype\":\"F31\",\"shape\":[1],\"data_offsets\":[0,4]}}", -1, 4, "dtype (F31)" },
    { "{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", -1, 4, "dtype (none given)" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offset\":[0,4]}}", -1, 4,
      "did you mean \"data_offsets\"?" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":1,\"data_offsets\":[0,4]}}", -1, 4, "not an array" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}", -1, 4,
      "at most 8 sizes" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", -1, 4, "negative" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1.5],\"data_offsets\":[0,4]}}", -1, 4,
      "not a whole number" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,4]}}", -1, 4,
      "multiply beyond 63 bits" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904],\"data_offsets\":[0,4]}}", -1, 4,
      "not a whole number" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", -1, 4,
      "shape [2] in F32 does not fill its 4 bytes" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", -1, 4,
      "lacks data_offsets" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[-4,0]}}", -1, 4, "negative" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,4]}}", -1, 8, "not in order" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", -1, 4,
      "ends at byte 8 of the data, but there are 4" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", -1, 8,
      "4 bytes before tensor \"a\" belong to no tensor" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", -1, 8,
      "4 bytes at the end belong to no tensor" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
      "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}",
      -1, 12, "\"a\" and \"b\" overlap" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
      "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}",
      -1, 8, "\"a\" is described twice" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"shape\":[1],\"data_offsets\":[0,4]}}", -1, 4,
      "a key twice" },
};

TEST(test_malformed)
{
    struct safetensors file;
    struct error err;

    for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
        const struct malformed *m = &malformed[i];
        write_raw(m->header, m->length, m->data);
        if (safetensors_open(&file, PATH, &err) == 0)
            fail_msg("accepted: %s", m->header);
        if (!strstr(err.message, m->message))
            fail_msg("%s: said \"%s\", expected \"%s\"", m->header, err.message, m->message);
        if (!strstr(err.message, PATH))
            fail_msg("no path in \"%s\"", err.message);
    }
}

TEST(test_not_a_file)
{
    struct safetensors file;
    struct error err;

    assert_ok(file_write(PATH, "abc", 3, &err), &err);
    assert_int_equal(safetensors_open(&file, PATH, &err), -1);
    assert_non_null(strstr(err.message, "too few"));
    assert_int_equal(safetensors_open(&file, "/nonexistent", &err), -1);
    assert_non_null(strstr(err.message, "cannot open"));
    assert_int_equal(safetensors_open(&file, "/", &err), -1);
    assert_non_null(strstr(err.message, "not a regular file"));
    assert_ok(file_write(PATH, "\2\0\0\0\0\0\0\0{\0", 10, &err), &err);
    assert_int_equal(safetensors_open(&file, PATH, &err), -1);
    assert_non_null(strstr(err.message, "NUL"));
}

TEST(test_dtypes)
{
    static const char header[] =
        "{\"__metadata__\":{\"format\":\"pt\"},"
        "\"half\":{\"dtype\":\"F16\",\"shape\":[7],\"data_offsets\":[0,14]},"
        "\"brain\":{\"dtype\":\"BF16\",\"shape\":[2,1],\"data_offsets\":[14,18]},"
        "\"none\":{\"dtype\":\"F32\",\"shape\":[0,3],\"data_offsets\":[18,18]},"
        "\"long\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[18,26]}}";
    static const uint16_t values[] = { 0x3c00, 0xc000, 0x0001, 0x83ff, 0x7bff,
                                       0x7c00, 0x0000, 0x3f80, 0xc049 };
    char file_bytes[8 + sizeof(header) + 26] = { 0 };
    uint64_t length = sizeof(header) - 1;
    struct safetensors file;
    float out[7];
    struct error err;

    memcpy(file_bytes, &length, 8);
    memcpy(file_bytes + 8, header, length);
    memcpy(file_bytes + 8 + length, values, sizeof(values));
    assert_ok(file_write(PATH, file_bytes, 8 + length + 26, &err), &err);
    assert_ok(safetensors_open(&file, PATH, &err), &err);
    assert_int_equal(file.nr, 4);
    assert_ok(safetensors_read(&file, safetensors_find(&file, "half"), out, &err), &err);
    static const float half[] = { 1, -2, 0x1p-24F, -1023 * 0x1p-24F, 65504, INFINITY, 0 };
    for (int i = 0; i < 7; i++)
        assert_true(out[i] == half[i]);
    assert_ok(safetensors_read(&file, safetensors_find(&file, "brain"), out, &err), &err);
    assert_true(out[0] == 1 && out[1] == -3.140625F);
    assert_int_equal(safetensors_find(&file, "none")->elements, 0);
    assert_int_equal(safetensors_read(&file, safetensors_find(&file, "long"), out, &err), -1);
    assert_non_null(strstr(err.message, "\"long\" is I64"));
    assert_null(safetensors_find(&file, "absent"));
    safetensors_close(&file);
}

TEST(test_half_is_exact)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        float value = safetensors_half((uint16_t)bits);
        int exponent = (int)(bits >> 10) & 31, fraction = (int)bits & 1023;
        double want = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
        if (exponent == 31 && fraction)
            assert_true(isnan(value));
        else
            assert_true((double)value ==
                        (bits & 0x8000 ? -1 : 1) * (exponent == 31 ? INFINITY : want));
    }
}

/* A file written, read and written again is the same file, and its weights the same floats. */
TEST(test_round_trip)
{
    struct gpt_weights w, back;
    size_t length, length_again;
    struct error err;

    for (int tied = 0; tied < 2; tied++) {
        assert_ok(gpt_weights_init(&w, &small, tied != 0, &err), &err);
        noisy_weights(&w, 5);
        assert_ok(gpt_checkpoint_write(&w, PATH, &err), &err);
        assert_ok(gpt_checkpoint_read(&back, &small, PATH, &err), &err);
        assert_int_equal(back.tied, tied);
        assert_int_equal(hash_weights(&w), hash_weights(&back));
        assert_ok(gpt_checkpoint_write(&back, OTHER_PATH, &err), &err);
        char *file = file_read(PATH, FILE_RECORDS_MOST, &length, &err);
        char *again = file_read(OTHER_PATH, FILE_RECORDS_MOST, &length_again, &err);
        assert_non_null(file);
        assert_non_null(again);
        assert_int_equal(length, length_again);
        assert_memory_equal(file, again, length);
        free(file);
        free(again);
        gpt_weights_release(&w);
        gpt_weights_release(&back);
    }
}

static void read_tensor(const struct safetensors *file, const char *name, int64_t rows,
                        int64_t cols, float *out)
{
    const struct safetensors_entry *entry = safetensors_find(file, name);
    struct error err;

    assert_non_null(entry);
    assert_int_equal(entry->rank, 2);
    assert_int_equal(entry->extent[0], rows);
    assert_int_equal(entry->extent[1], cols);
    assert_ok(safetensors_read(file, entry, out, &err), &err);
}

/* In the file a layer's matrix is [in, out], the head and the embeddings are as in memory. */
TEST(test_layout)
{
    struct safetensors file;
    struct gpt_weights w;
    float turned[4 * 6 * 6], head[11 * 6];
    struct error err;

    assert_ok(gpt_weights_init(&w, &small, false, &err), &err);
    noisy_weights(&w, 6);
    assert_ok(gpt_checkpoint_write(&w, PATH, &err), &err);
    assert_ok(safetensors_open(&file, PATH, &err), &err);
    assert_int_equal(file.nr, 2 + 2 * 12 + 2 + 1);
    read_tensor(&file, "h.1.mlp.c_fc.weight", 6, 24, turned);
    const float *weight = gpt_weight(&w, GPT_FC_WEIGHT, 1);
    for (int64_t i = 0; i < 6 * 24; i++)
        assert_true(turned[i] == weight[i % 24 * 6 + i / 24]);
    read_tensor(&file, "lm_head.weight", 11, 6, head);
    assert_memory_equal(head, gpt_weight(&w, GPT_LM_HEAD, 0), sizeof(head));
    safetensors_close(&file);
    gpt_weights_release(&w);
}

/* A source list that a test bends before it is written. */
struct bent {
    struct safetensors_source sources[40];
    char names[40][64];
    size_t nr, nr_names; /* a removed source leaves its name behind */
};

static void fill_ones(const struct safetensors_source *source, float *out)
{
    int64_t elements = 1;

    for (int i = 0; i < source->rank; i++)
        elements *= source->extent[i];
    for (int64_t i = 0; i < elements; i++)
        out[i] = 1;
}

static void bent_add(struct bent *b, const char *name, int rank, int64_t rows, int64_t cols)
{
    char *copy = b->names[b->nr_names++];

    snprintf(copy, sizeof(b->names[0]), "%s", name);
    b->sources[b->nr++] = (struct safetensors_source) {
        .name = copy, .rank = rank, .extent = { rows, cols }, .fill = fill_ones
    };
}

static void bent_init(struct bent *b, const struct gpt_config *c, const char *prefix)
{
    char name[GPT_NAME_SIZE], full[64];

    b->nr = b->nr_names = 0;
    for (int64_t layer = 0; layer < c->layers; layer++)
        for (int i = 0; i < GPT_LM_HEAD; i++) {
            enum gpt_tensor which = (enum gpt_tensor)i;
            int64_t rows, cols;
            if (layer > 0 && !gpt_weight_in_layer(which))
                continue;
            gpt_weight_extents(c, which, &rows, &cols);
            snprintf(full, sizeof(full), "%s%s", prefix, gpt_weight_name(which, layer, name));
            if (gpt_weight_is_linear(which))
                bent_add(b, full, 2, cols, rows);
            else
                bent_add(b, full, cols ? 2 : 1, rows, cols);
        }
}

static void bent_remove(struct bent *b, const char *name)
{
    size_t kept = 0;

    for (size_t i = 0; i < b->nr; i++)
        if (strcmp(b->sources[i].name, name) != 0)
            b->sources[kept++] = b->sources[i];
    assert_int_equal(kept + 1, b->nr);
    b->nr = kept;
}

static void bent_write(const struct bent *b)
{
    struct error err;

    assert_ok(safetensors_write(PATH, b->sources, b->nr, &err), &err);
}

static void assert_refused(const struct bent *b, const char *message)
{
    struct gpt_weights w;
    struct error err;

    bent_write(b);
    assert_int_equal(gpt_checkpoint_read(&w, &small, PATH, &err), -1);
    if (!strstr(err.message, message))
        fail_msg("said \"%s\", expected \"%s\"", err.message, message);
    assert_null(w.data);
}

TEST(test_published_names)
{
    struct bent b;
    struct gpt_weights w;
    struct error err;

    bent_init(&b, &small, "transformer.");
    bent_add(&b, "transformer.h.0.attn.bias", 2, 5, 5);
    bent_add(&b, "transformer.h.1.attn.masked_bias", 0, 0, 0);
    bent_write(&b);
    assert_ok(gpt_checkpoint_read(&w, &small, PATH, &err), &err);
    assert_true(w.tied);
    assert_ptr_equal(gpt_weight(&w, GPT_LM_HEAD, 0), gpt_weight(&w, GPT_WTE, 0));
    gpt_weights_release(&w);
    bent_add(&b, "lm_head.weight", 2, 11, 6);
    bent_write(&b);
    assert_ok(gpt_checkpoint_read(&w, &small, PATH, &err), &err);
    assert_false(w.tied);
    gpt_weights_release(&w);
}

TEST(test_contradictions)
{
    struct bent b;

    bent_init(&b, &small, "");
    bent_remove(&b, "h.1.ln_2.bias");
    bent_remove(&b, "ln_f.weight");
    assert_refused(&b, "2 tensors of small missing, the first is ln_f.weight");

    bent_init(&b, &small, "");
    bent_remove(&b, "wte.weight");
    assert_refused(&b, "1 tensor of small missing, the first is wte.weight");

    bent_init(&b, &small, "");
    bent_remove(&b, "h.0.mlp.c_fc.weight");
    bent_add(&b, "h.0.mlp.c_fc.weight", 2, 24, 6);
    assert_refused(&b, "has shape [24, 6], but small needs [6, 24]");

    bent_init(&b, &small, "");
    bent_add(&b, "score.weight", 1, 2, 0);
    assert_refused(&b, "\"score.weight\" is no tensor of a GPT-2");

    bent_init(&b, &small, "");
    bent_add(&b, "transformer.wpe.weight", 2, 5, 6);
    assert_refused(&b, "both \"wpe.weight\" and \"transformer.wpe.weight\"");

    bent_init(&b, &small, "");
    bent_add(&b, "h.2.ln_1.bias", 1, 6, 0);
    assert_refused(&b, "layers 3, width 6, block 5, vocabulary 11, but small has 2, 6, 5, 11");

    bent_init(&b, &small, "");
    bent_remove(&b, "wpe.weight");
    bent_add(&b, "wpe.weight", 2, 8, 6);
    assert_refused(&b, "block 8");
}

/* nano's file opened as micro: the message says whose it is. */
TEST(test_names_the_other_model)
{
    struct gpt_weights w, read;
    struct error err;
    const struct gpt_config *nano = gpt_config_find("nano", &err);
    const struct gpt_config *micro = gpt_config_find("micro", &err);

    assert_ok(gpt_weights_init(&w, nano, true, &err), &err);
    gpt_weights_seed(&w, 1);
    assert_ok(gpt_checkpoint_write(&w, PATH, &err), &err);
    gpt_weights_release(&w);
    assert_int_equal(gpt_checkpoint_read(&read, micro, PATH, &err), -1);
    assert_non_null(strstr(err.message, "this is the size of nano"));
}

/* Cut anywhere, a file is refused; what was there is not touched by a failed write. */
TEST(test_truncated)
{
    struct bent b;
    struct gpt_weights w;
    size_t length;
    struct error err;

    bent_init(&b, &small, "");
    bent_write(&b);
    char *file = file_read(PATH, FILE_RECORDS_MOST, &length, &err);
    assert_non_null(file);
    for (size_t cut = 0; cut < length; cut += 1 + length / 101) {
        assert_ok(file_write(OTHER_PATH, file, cut, &err), &err);
        assert_int_equal(gpt_checkpoint_read(&w, &small, OTHER_PATH, &err), -1);
        assert_null(w.data);
    }
    free(file);
    assert_int_equal(safetensors_write("/nonexistent/w.safetensors", b.sources, b.nr, &err), -1);
    assert_non_null(strstr(err.message, "/nonexistent/w.safetensors"));
}

/* One random byte of the header changed: read in full or refused with a reason, nothing between.
 * (The sanitizers watch over what is touched meanwhile.) */
TEST(test_garbled)
{
    struct bent b;
    struct gpt_weights w;
    struct random random;
    struct error err;
    size_t length;
    int refused = 0;

    bent_init(&b, &small, "");
    bent_write(&b);
    char *file = file_read(PATH, FILE_RECORDS_MOST, &length, &err);
    assert_non_null(file);
    uint64_t header;
    memcpy(&header, file, sizeof(header));
    random_seed(&random, 1);
    for (int i = 0; i < 300; i++) {
        size_t at = random_below(&random, 8 + header);
        char old = file[at];
        file[at] = (char)random_u64(&random);
        assert_ok(file_write(OTHER_PATH, file, length, &err), &err);
        file[at] = old;
        err.message[0] = '\0';
        if (gpt_checkpoint_read(&w, &small, OTHER_PATH, &err) == 0) {
            gpt_weights_release(&w);
            continue;
        }
        refused++;
        assert_null(w.data);
        assert_true(strlen(err.message) > 0);
    }
    /* Blanks and the free text of __metadata__ may change; the rest may not. */
    assert_in_range(refused, 250, 300);
    free(file);
}

RUN_TESTS(NULL, NULL)

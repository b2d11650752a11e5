/* SPDX-License-Identifier: MIT */
/* Reads CUDA_HOST=SPEC: the form is in cuda_host.h. */
#include "cuda_host.h"
#include "driver.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cuda_host
{

/* A whole number that is all of `text`, within low..high. */
static bool read_number(const std::string &text, long low, long high, long *number)
{
    char *end = nullptr;

    *number = strtol(text.c_str(), &end, 10);
    return !text.empty() && *end == '\0' && *number >= low && *number <= high;
}

static bool read_int(const std::string &text, int low, int high, int *number)
{
    long wide = 0;

    if (!read_number(text, low, high, &wide))
        return false;
    *number = static_cast<int>(wide);
    return true;
}

static bool set_devices(struct setup *s, const std::string &value)
{
    return read_int(value, 0, 64, &s->devices);
}

static bool set_no_driver(struct setup *s, const std::string &value)
{
    s->driver = 0;
    return value.empty();
}

static bool set_lag(struct setup *s, const std::string &value)
{
    s->lag = true;
    return value.empty();
}

static bool set_driver(struct setup *s, const std::string &value)
{
    return read_int(value, 0, 1000000, &s->driver);
}

static bool set_capability(struct setup *s, const std::string &value)
{
    size_t dot = value.find('.');

    return dot != std::string::npos && read_int(value.substr(0, dot), 1, 99, &s->major) &&
           read_int(value.substr(dot + 1), 0, 9, &s->minor);
}

static bool set_memory(struct setup *s, const std::string &value)
{
    static const char units[] = "KMG";
    const char *unit = value.empty() ? nullptr : strchr(units, value.back());
    long number = 0;

    if (!read_number(unit ? value.substr(0, value.size() - 1) : value, 0, 1L << 40, &number))
        return false;
    s->memory = static_cast<size_t>(number) << (unit ? 10 * (unit - units + 1) : 0);
    return true;
}

static bool add_fault(struct setup *s, const std::string &value)
{
    size_t first = value.find(':'), second = value.find(':', first + 1);
    long count = 0;
    int code = 0;

    if (first == std::string::npos || second == std::string::npos)
        return false;
    if (!read_number(value.substr(first + 1, second - first - 1), 1, 1L << 40, &count) ||
        !read_int(value.substr(second + 1), 1, 999, &code))
        return false;
    s->faults.push_back({ value.substr(0, first), count, static_cast<cudaError_t>(code) });
    return true;
}

static const struct {
    const char *word;
    bool (*set)(struct setup *, const std::string &value);
} words[] = {
    { "devices", set_devices }, { "no-driver", set_no_driver },
    { "driver", set_driver },   { "capability", set_capability },
    { "memory", set_memory },   { "fail", add_fault },
    { "lag", set_lag },
};

static bool add_word(struct setup *s, const std::string &text)
{
    size_t equals = text.find('=');
    std::string name = text.substr(0, equals);
    std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);

    for (const auto &row : words)
        if (name == row.word)
            return row.set(s, value);
    return false;
}

int setup_add(struct setup *setup, const char *spec)
{
    std::string rest = spec;

    while (!rest.empty()) {
        size_t comma = rest.find(',');
        std::string word = rest.substr(0, comma);
        if (!add_word(setup, word)) {
            fprintf(stderr, "CUDA host layer: \"%s\" is not understood; see cuda_host.h\n",
                    word.c_str());
            return -1;
        }
        rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
    }
    return 0;
}

struct setup setup_from_environment(void)
{
    const char *spec = getenv("CUDA_HOST"), *seed = getenv("CUDA_HOST_SEED");
    struct setup setup;

    /* A test that misspells its fault must not pass for want of it. */
    if (spec && setup_add(&setup, spec))
        exit(2);
    if (seed)
        setup.seed = strtoull(seed, nullptr, 10);
    return setup;
}

} // namespace cuda_host

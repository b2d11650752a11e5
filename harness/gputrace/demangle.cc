/* SPDX-License-Identifier: MIT */
extern "C" {
#include "gputrace/names.h"
}

#include <cstring>
#include <cxxabi.h>

char *activity_demangle(const char *name)
{
    int status = 0;

    /* The demangler also takes types: "f" would become "float". */
    if (std::strncmp(name, "_Z", 2) != 0)
        return nullptr;
    return abi::__cxa_demangle(name, nullptr, nullptr, &status);
}

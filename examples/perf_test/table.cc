/* SPDX-License-Identifier: MIT */
/* table N: fills a table of N squares and sorts it. A program that knows nothing of benchmarks. */
#include "work.h"

#include <algorithm>
#include <cstdio>
#include <vector>

int main(int argc, char **argv)
{
    const unsigned n = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 100000;
    unsigned smallest = 0;

    for (int pass = 0; pass < example_work(); pass++) {
        std::vector<unsigned> squares(n);
        for (unsigned i = 0; i < n; i++)
            squares[i] = i * i * 2654435761u;
        std::sort(squares.begin(), squares.end());
        smallest = squares.empty() ? 0 : squares.front();
    }
    std::printf("%u\n", smallest);
    return 0;
}

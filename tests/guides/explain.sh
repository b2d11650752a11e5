# shellcheck shell=bash
# Around docs/explain.md: two builds of a program that differ by a flag, two runs of which one is
# slower.
before() {
  need_tools cc
  in_path
  impatient
  not_run '*--build*' 'builds two commits of harness'
  not_run '*gate*' 'builds two commits of harness'
  project toy
  cat >work.c <<'END'
#include <stdlib.h>
int main(int argc, char **argv) {
  static double x[4096];
  for (int round = argc > 1 ? atoi(argv[1]) : 0; round > 0; round--)
    for (int i = 1; i < 4096; i++) x[i] = x[i - 1] * 0.3 + x[i] * 0.7 + 1;
  return x[4095] < 0;
}
END
  cc -O2 -g work.c -o old && cc -O0 -g work.c -o new || exit 1
  fake before
  fake after slow=1.5
}

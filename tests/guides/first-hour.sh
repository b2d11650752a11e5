# shellcheck shell=bash
# Around docs/guides/first-hour.md.
before() {
  clone_from_here
  installed
  pictures_maybe
}
after() {
  command -v gnuplot >/dev/null && check "the roofline is drawn" test -s .harness/plots/kernels/roofline.png
  check "the report is there" test -s .harness/visualizations/report.html
  check "the history is sound" harness history verify
}

# shellcheck shell=bash
# Around docs/filters.md: two runs of a scripted clock.
before() {
  in_path
  pictures_maybe
  project toy
  fake before
  fake after
}

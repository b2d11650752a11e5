# shellcheck shell=bash
# Around docs/serve.md.
not_run 'ssh -L*' 'needs another machine'
not_run 'docker *' 'an image is built from packages of the network'
before() {
  need_tools openssl
  in_path
  impatient
  project toy
  fake base
  harness baseline save main >"$WORK/saved"
  fake head
  cp .harness/history.db other.db
}

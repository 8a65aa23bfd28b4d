# Sourced by the scripts beside it: where things are, and how Debian packages are asked for.

cd "$(dirname "${BASH_SOURCE[0]}")/.."
ROOT=$PWD
TARGET=${CARGO_TARGET_DIR:-$ROOT/target}
case $TARGET in /*) ;; *) TARGET=$ROOT/$TARGET ;; esac
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/splitprove
export FIL_PROOFS_PARAMETER_CACHE=${FIL_PROOFS_PARAMETER_CACHE:-$CACHE/params}

# need COMMAND PACKAGE …: each command that is missing is installed from its Debian package when that is ours to do, and
# named otherwise.
need() {
  local missing=()
  while [ $# -gt 0 ]; do
    command -v "$1" >/dev/null || missing+=("$2")
    shift 2
  done
  need_packages "${missing[@]}"
}

need_packages() {
  [ $# -gt 0 ] || return 0
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing Debian packages: $*"
    DEBIAN_FRONTEND=noninteractive apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" >/dev/null
  else
    echo "missing Debian packages: $* (as root: apt-get install $*)" >&2
    exit 3
  fi
}

need_cargo() {
  command -v cargo >/dev/null || PATH=$HOME/.cargo/bin:$PATH
  command -v cargo >/dev/null || {
    echo 'cargo is missing: Rust 1.89 or later, from https://rustup.rs (Debian 12 has an older one)' >&2
    exit 3
  }
}

need_go() {
  command -v go >/dev/null || PATH=$PATH:/usr/local/go/bin
  command -v go >/dev/null || { echo 'go is missing: Go 1.24 or later, from https://go.dev/dl' >&2; exit 3; }
}

# The runner of the Rust tests; two minutes to build.
need_nextest() {
  command -v cargo-nextest >/dev/null || cargo install --locked --debug cargo-nextest
}

#!/bin/sh
# Prints the environment in which the go command builds and tests against a library that is not installed:
#
#	eval "$(go/testenv.sh target/release)" && cd go && go test ./...
#
# The argument is the folder of libsplitprove.so. A link libsplitprove.so.0 and a splitprove.pc are made in a folder of
# their own beside it, go-test, which the next call makes anew.
set -eu
[ $# -eq 1 ] && [ -f "$1/libsplitprove.so" ] || {
	echo "usage: testenv.sh FOLDER, the one with libsplitprove.so" >&2
	exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
lib=$(cd "$1" && pwd)
env=$lib/go-test
rm -rf "$env"
mkdir "$env"
ln -s ../libsplitprove.so "$env/libsplitprove.so"
ln -s ../libsplitprove.so "$env/libsplitprove.so.0"
cat >"$env/splitprove.pc" <<EOF
Name: splitprove
Description: Filecoin's Groth16 proofs in the caller's process
Version: 0
Cflags: -I"$here"
Libs: -L"$env" -lsplitprove
EOF
quote() {
	printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"
}
echo "export PKG_CONFIG_PATH=$(quote "$env${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}")"
echo "export LD_LIBRARY_PATH=$(quote "$env${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}")"
echo "export CGO_ENABLED=1"

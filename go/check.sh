#!/bin/sh
# What has to hold before Go code is merged: the vendored header is the library's, everything is formatted, builds with
# and without cgo, and passes vet, the tests, the race detector and cgo's pointer checks. The argument is the folder of
# libsplitprove.so. Tests of real proofs need the 2 KiB parameters in $FIL_PROOFS_PARAMETER_CACHE; SPLITPROVE_REQUIRE_PARAMS=1
# makes their absence a failure.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
env=$("$here/testenv.sh" "$@")
eval "$env"
cd "$here"
cmp splitprove.h ../include/splitprove.h
unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || {
	echo "gofmt -l: $unformatted" >&2
	exit 1
}
for module in . curio; do
	(
		cd "$module"
		CGO_ENABLED=0 go vet ./...
		CGO_ENABLED=0 GOOS=windows go build ./...
		CGO_ENABLED=0 GOOS=darwin go build ./...
		go vet ./...
		go test -timeout 30m ./...
	)
done
CGO_ENABLED=0 go test ./...
# Real proofs differ in what the library does, not in what crosses to it.
go test -race -short ./...
GOEXPERIMENT=cgocheck2 go test -short ./...

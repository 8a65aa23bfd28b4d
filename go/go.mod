module github.com/splitprove/splitprove/go

go 1.24

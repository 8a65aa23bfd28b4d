// Package bare calls the library with nothing in between: what the tests and benchmarks of package splitprove are
// compared with.
package bare

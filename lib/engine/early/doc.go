//go:build !cgo || noxla || !(xla || (linux && (amd64 || arm64)))

// Package early protects the environment from go-xla. In a program without XLA it is empty.
package early

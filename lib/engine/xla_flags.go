//go:build xla

package engine

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/gomlx/go-xla/pjrt"

	"github.com/lethe-ml/lethe/lib/files"
)

// setting is a flag of XLA's with which a plugin computes what Lethe promises. A plugin
// that does not know a flag ends the process, so it is set for those alone that hold the
// flag's help text.
type setting struct{ flag, value, help string }

// XLA's plugin for the CPU hands large products to XNNPACK, lays out the right operand
// for it where that is an input, and finds what it laid out again by the operand's
// address: a batch that comes to lie where another lay is multiplied as that other one.
// Every step of a training from its second on may be on records of another, without a
// word.
//
// On a GPU products and convolutions are those that a measurement of a few microseconds
// finds fastest, so that a training has other bits when it is made again or resumed; and
// Triton's, which a convolution of 1 x 1 pixels becomes, are of numbers of ten bits.
var settings = []setting{
	{keepsOperands, "false", "Use XNNPACK for supported operations."},
	{repeats, "true", "Guarantees run-to-run determinism on GPU."},
	{"xla_gpu_enable_triton_gemm", "false", "Whether to use Triton-based matrix multiplication."},
}

const (
	keepsOperands = "xla_cpu_use_xnnpack"
	repeats       = "xla_gpu_deterministic_ops"
)

// withSettings sets XLA's flags for a plugin that knows them, unless the user has set
// them, and returns what sets them back: a plugin reads them once, and programs that are
// started from here may have another one.
func withSettings(plugin string) (back func()) {
	flags, there := os.LookupEnv("XLA_FLAGS")
	path := plugin
	if !strings.ContainsAny(plugin, `/\`) {
		path = pjrt.AvailablePlugins()[plugin]
	}
	with := flags
	for _, s := range known(path, settings) {
		if !names(flags, s.flag) {
			with += " --" + s.flag + "=" + s.value
		}
	}
	if with == flags {
		return func() {}
	}
	os.Setenv("XLA_FLAGS", strings.TrimSpace(with))
	return func() {
		if !there {
			os.Unsetenv("XLA_FLAGS")
			return
		}
		os.Setenv("XLA_FLAGS", flags)
	}
}

// names tells whether flags name one of them, with a value or without.
func names(flags, flag string) bool {
	return slices.ContainsFunc(strings.Fields(flags), func(f string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(f, "-"), "=")
		return name == flag
	})
}

// sure is the name of a plugin that computes with the flags of now, and which of them
// matter for what comes out: another one than that of before, of which some results in a
// store are wrong, and than one whose user has set them otherwise. On a device of its own
// memory weights stay there for an epoch (train), which rounds otherwise than before.
func sure(kernel string, cpu bool) string {
	set := func(flag, value string) bool {
		return slices.Contains(strings.Fields(os.Getenv("XLA_FLAGS")), "--"+flag+"="+value)
	}
	switch {
	case cpu && set(keepsOperands, "false"):
		return kernel + " without XNNPACK"
	case cpu:
		return kernel + ", checked"
	case set(repeats, "true"):
		return kernel + ", weights aboard, deterministic"
	}
	return kernel + ", weights aboard"
}

// known are the settings whose help text a file holds: none of one that cannot be read.
func known(path string, of []setting) []setting {
	f, err := files.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	found, longest := make([]bool, len(of)), 0
	for _, s := range of {
		longest = max(longest, len(s.help))
	}
	buffer, kept := make([]byte, 1<<20), 0
	for err == nil && slices.Contains(found, false) {
		var n int
		n, err = io.ReadFull(f, buffer[kept:])
		text := buffer[:kept+n]
		for i, s := range of {
			found[i] = found[i] || bytes.Contains(text, []byte(s.help))
		}
		kept = copy(buffer, text[max(0, len(text)-longest):])
	}
	var out []setting
	for i, s := range of {
		if found[i] {
			out = append(out, s)
		}
	}
	return out
}

//go:build cgo && !noxla && (xla || (linux && (amd64 || arm64)))

// The XLA flags that correct and repeatable results need, and a plugin's name in store keys.

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

// xlaFlag is an XLA flag that a plugin needs for correct or repeatable results. A plugin ends
// the process at an unknown flag, so the flag is set only if the plugin's file has its help
// text.
type xlaFlag struct{ flag, value, help string }

// XLA's CPU plugin passes large matrix products to XNNPACK, which keeps a packed copy of the
// right operand under its address. A batch at the address of an earlier one is then
// multiplied as the earlier one: stale inputs, without an error.
//
// On a GPU, XLA chooses algorithms by timing them, so a repeated or resumed training has
// other bits; and Triton's matrix products, which it uses for 1 x 1 convolutions, round
// their inputs to ten bits.
var xlaFlags = []xlaFlag{
	{flagXNNPACK, "false", "Use XNNPACK for supported operations."},
	{flagDeterministic, "true", "Guarantees run-to-run determinism on GPU."},
	{"xla_gpu_enable_triton_gemm", "false", "Whether to use Triton-based matrix multiplication."},
}

const (
	flagXNNPACK       = "xla_cpu_use_xnnpack"
	flagDeterministic = "xla_gpu_deterministic_ops"
)

// setXLAFlags sets XLA's flags for a plugin that knows them, unless the user has set them.
// It returns a function that resets them: a plugin reads the flags once, and child processes
// may use another plugin.
func setXLAFlags(plugin string) (back func()) {
	flags, there := os.LookupEnv("XLA_FLAGS")
	path := plugin
	if !strings.ContainsAny(plugin, `/\`) {
		path = pjrt.AvailablePlugins()[plugin]
	}
	with := flags
	for _, s := range supportedFlags(path, xlaFlags) {
		if !hasFlag(flags, s.flag) {
			with += " --" + s.flag + "=" + s.value
		}
	}
	usedXLAFlags.Store(with)
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

// hasFlag reports whether flags has the flag, with or without a value.
func hasFlag(flags, flag string) bool {
	return slices.ContainsFunc(strings.Fields(flags), func(f string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(f, "-"), "=")
		return name == flag
	})
}

// kernelName returns the name of a plugin in store keys. It has the flags that change
// results. On a device with separate memory an epoch is one execution (package train), which
// changes the rounding; its name says so: results that are older have another. Names must not
// change unless results do.
func kernelName(kernel string, cpu bool) string {
	set := func(flag, value string) bool {
		return slices.Contains(strings.Fields(os.Getenv("XLA_FLAGS")), "--"+flag+"="+value)
	}
	switch {
	case cpu && set(flagXNNPACK, "false"):
		return kernel + " without XNNPACK"
	case cpu:
		return kernel + ", checked"
	case set(flagDeterministic, "true"):
		return kernel + ", device epochs, deterministic"
	}
	return kernel + ", device epochs"
}

// supportedFlags returns the flags whose help text a file has, none if it cannot be read.
func supportedFlags(path string, of []xlaFlag) []xlaFlag {
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
	var out []xlaFlag
	for i, s := range of {
		if found[i] {
			out = append(out, s)
		}
	}
	return out
}

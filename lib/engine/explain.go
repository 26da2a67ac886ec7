// What XLA's and CUDA's error texts mean, and what to do.

package engine

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/lethe-ml/lethe/lib/engine/backend"
)

// The reasons of a device's failures, for errors.Is on what Explain returns.
var (
	ErrMemory  = errors.New("the card's memory is full")
	ErrDriver  = errors.New("the card's driver is too old for this plugin")
	ErrDevice  = errors.New("the plugin sees no card")
	ErrVersion = errors.New("the plugin speaks another version of PJRT's interface")
	ErrLibrary = errors.New("a library that the plugin needs is missing or of another version")
	ErrCard    = errors.New("the card failed")
)

// explanation turns texts into a reason and into what to do. {1} stands for the first group.
type explanation struct {
	text   *regexp.Regexp
	reason error
	do     string
}

// The texts are those of XLA and of CUDA's libraries; the first that fits counts.
var explanations = []explanation{
	{regexp.MustCompile(`Unexpected \S+ size: expected \d+, got \d+|PJRT_Api|has another version than Lethe's`), ErrVersion,
		"lethe xla --cuda (or lethe xla, for the CPU) gets the one that fits"},
	{regexp.MustCompile(`driver version is insufficient|cudaErrorInsufficientDriver|insufficient driver version|CUDA_ERROR_UNSUPPORTED_PTX_VERSION|` +
		`unsupported toolchain|CUDA_ERROR_SYSTEM_DRIVER_MISMATCH|CUDA_ERROR_COMPAT_NOT_SUPPORTED|cuda_malloc_async or update your CUDA driver`), ErrDriver,
		"CUDA 13 needs driver 580 or newer (nvidia-smi says which one is here): install a newer one, or name the plugin of a JAX for CUDA 12"},
	{regexp.MustCompile(`no kernel image is available|CUDA_ERROR_NO_BINARY_FOR_GPU|CUDA_ERROR_INVALID_PTX`), ErrDevice,
		"it cannot compute on this one, which is older than CUDA 13 supports (GeForce RTX 20, T4 or newer): name the plugin of a JAX for CUDA 12"},
	{regexp.MustCompile(`No visible GPU devices|no supported devices found|no CUDA-capable device|CUDA_ERROR_NO_DEVICE|CUDA_ERROR_INVALID_DEVICE|` +
		`[Ff]ailed call to cuInit|cuda drivers on your machine`), ErrDevice,
		"nvidia-smi should list the card; CUDA_VISIBLE_DEVICES can hide it, and a container needs --gpus all"},
	{regexp.MustCompile(`(?i)out of memory (?:while )?trying to allocate ([0-9.]+ ?[A-Za-z]+)`), ErrMemory, "{1} more do not fit; " + makeRoom},
	{regexp.MustCompile(`Failed to allocate request for ([0-9.]+[A-Za-z]+)`), ErrMemory, "{1} more do not fit; " + makeRoom},
	{regexp.MustCompile(`(?i)RESOURCE_EXHAUSTED|CUDA_ERROR_OUT_OF_MEMORY|out of memory|STATUS_ALLOC_FAILED|ran out of memory|\(code=8\)`), ErrMemory, makeRoom},
	{regexp.MustCompile(`Loaded runtime CuDNN library: (\S+) but source was compiled with`), ErrLibrary,
		"cuDNN {1} of this machine comes first: start without it in LD_LIBRARY_PATH"},
	{regexp.MustCompile(`(lib[\w.+-]+): cannot open shared object file`), ErrLibrary, "{1} is missing: lethe xla --cuda gets the plugin with its libraries"},
	{regexp.MustCompile(`version .?(GLIBC\w*_[0-9.]+)' not found`), ErrLibrary, "it needs {1}: a newer Linux, or an older plugin"},
	{regexp.MustCompile(`No PTX compilation provider|(?i)could(?:n't| not) find .*ptxas|ptxas not found|libdevice not found`), ErrLibrary,
		"ptxas and libdevice are not beside it: lethe xla --cuda gets the plugin with its libraries"},
	{regexp.MustCompile(`DNN library initialization failed|CUDNN_STATUS_NOT_INITIALIZED|CUBLAS_STATUS_NOT_INITIALIZED`), ErrMemory,
		"cuDNN or cuBLAS could not start; " + makeRoom + "; a driver below 580 gives the same message"},
	{regexp.MustCompile(`CUDA_ERROR_ILLEGAL_ADDRESS|CUDA_ERROR_LAUNCH_FAILED|CUDA_ERROR_ECC_UNCORRECTABLE|uncorrectable ECC|fallen off the bus|` +
		`CUDA_ERROR_UNKNOWN|CUDA_ERROR_HARDWARE_STACK_ERROR`), ErrCard,
		"start again, which resumes from the last checkpoint; if it comes back, nvidia-smi -q and the kernel's log (dmesg) say more"},
}

const makeRoom = "nvidia-smi lists the programs that hold memory; a smaller batch, or fewer models side by side, takes less"

// Explain returns err as one sentence with what to do, if it is a known failure of a plugin, a
// driver or a card, or a step that is too large for the memory; otherwise err without GoMLX's advice about its own environment variables.
// The result wraps err and its reason, such as ErrMemory. Explain(nil) is nil.
func Explain(err error) error {
	var done *explained
	if err == nil || errors.As(err, &done) {
		return err
	}
	var large *backend.TooLargeError
	if errors.As(err, &large) {
		return &explained{large.Error(), []error{err}}
	}
	text := err.Error()
	for _, x := range explanations {
		if found := x.text.FindStringSubmatch(text); found != nil {
			do := x.do
			if len(found) > 1 {
				do = strings.ReplaceAll(do, "{1}", readableBytes(found[1]))
			}
			return &explained{fmt.Sprintf("%v: %s (%s)", x.reason, do, brief(text)), []error{x.reason, err}}
		}
	}
	if short := brief(text); short != text {
		return &explained{short, []error{err}}
	}
	return err
}

// OldestDriver is the oldest major version of NVIDIA's driver that CUDA 13 runs on.
const OldestDriver = 580

// DriverTooOld reports whether a version of NVIDIA's driver is older than CUDA 13 needs. A
// version that is not understood is not.
func DriverTooOld(version string) bool {
	major, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(major)
	return err == nil && n < OldestDriver
}

// explained is an error with another text.
type explained struct {
	text string
	of   []error
}

func (e *explained) Error() string   { return e.text }
func (e *explained) Unwrap() []error { return e.of }

// pjrtPrefix is what go-xla and GoMLX put before a plugin's message.
var pjrtPrefix = regexp.MustCompile(`^(?:[^:(]*(?:backend|plugin|computation)[^:]*: )+(?:PJRT error \(code=\d+\): )?`)

// brief returns the first line of an error's text, without GoMLX's advice about its own
// environment variables.
func brief(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	line, _, _ = strings.Cut(line, " -- ")
	if short := pjrtPrefix.ReplaceAllString(line, ""); short != "" {
		line = short
	}
	return strings.TrimSuffix(strings.TrimSpace(line), ".")
}

// readableBytes returns "4.4 GiB" for "4770354232 bytes" and leaves other texts as they are.
func readableBytes(text string) string {
	digits, ok := strings.CutSuffix(text, "bytes")
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	if !ok || err != nil || n < 0 {
		return text
	}
	return bytesText(n)
}

// bytesText returns a number of bytes in a readable unit.
func bytesText(n int64) string {
	value, units := float64(n), []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for value >= 1024 && i < len(units)-1 {
		value, i = value/1024, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f %s", value, units[i])
}

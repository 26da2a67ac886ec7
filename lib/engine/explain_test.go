// Tests of explain.go.

package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine/backend"
)

// The texts are those of XLA 0.11.2's plugin and of CUDA's libraries, as programs print them.
func TestErrorsOfDevicesAreExplainedInOneSentence(t *testing.T) {
	for text, want := range map[string]struct {
		reason error
		words  string
	}{
		`while creating plugin /a/xla_cuda_plugin.so for backend "xla": PJRT error (code=9): No visible GPU devices.`:                                      {ErrDevice, "nvidia-smi"},
		"PJRT error (code=13): INTERNAL: CUDA error: Failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected":                      {ErrDevice, "CUDA_VISIBLE_DEVICES"},
		"PJRT error (code=8): RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4770354232 bytes.\nBufferAssignment OOM Debugging.":               {ErrMemory, "4.4 GiB more do not fit"},
		"PJRT error (code=8): RESOURCE_EXHAUSTED: Out of memory while trying to allocate 3.37GiB.":                                                         {ErrMemory, "3.37GiB more do not fit"},
		"RESOURCE_EXHAUSTED: Failed to allocate request for 176.00MiB (184549376B) on device ordinal 0":                                                    {ErrMemory, "176.00MiB"},
		"PJRT error (code=13): failed to allocate 75.43GiB (80994107392 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory":                       {ErrMemory, "smaller batch"},
		"PJRT error (code=13): Underlying backend ran out of memory trying to instantiate command buffer with 3 (total of 9 alive graphs in the process).": {ErrMemory, "smaller batch"},
		"INTERNAL: CUDA Runtime error: cudaErrorInsufficientDriver : CUDA driver version is insufficient for CUDA runtime version":                         {ErrDriver, "driver 580 or newer"},
		"CUDA_ERROR_UNSUPPORTED_PTX_VERSION: the provided PTX was compiled with an unsupported toolchain.":                                                 {ErrDriver, "nvidia-smi"},
		"INTERNAL: no kernel image is available for execution on the device":                                                                               {ErrDevice, "CUDA 12"},
		"PJRT error (code=3): Unexpected PJRT_Plugin_Initialize_Args size: expected 24, got 16. Check installed software versions.":                        {ErrVersion, "lethe xla --cuda"},
		"its PJRT interface has another version than Lethe's: it speaks 1.0":                                                                               {ErrVersion, "1.0"},
		"it cannot be loaded: libcudart.so.13: cannot open shared object file: No such file or directory":                                                  {ErrLibrary, "libcudart.so.13 is missing"},
		"it cannot be loaded: /lib/x86_64-linux-gnu/libm.so.6: version `GLIBC_2.38' not found (required by /a/xla_cuda_plugin.so)":                         {ErrLibrary, "GLIBC_2.38"},
		"Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 9.8.0.  CuDNN library needs to have matching major version":                     {ErrLibrary, "cuDNN 9.1.0"},
		"No PTX compilation provider is available. Neither ptxas/nvlink nor nvjtlink is available.":                                                        {ErrLibrary, "ptxas"},
		"FAILED_PRECONDITION: DNN library initialization failed. Look at the errors above for more details.":                                               {ErrMemory, "could not start"},
		"INTERNAL: Failed to synchronize: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered":                                            {ErrCard, "last checkpoint"},
		"UNKNOWN: CUDA error: CUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable ECC error encountered":                                                           {ErrCard, "dmesg"},
	} {
		cause := errors.New(text)
		err := Explain(fmt.Errorf("epoch 3: %w", cause))
		if !errors.Is(err, want.reason) || !errors.Is(err, cause) || !strings.Contains(err.Error(), want.words) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s\n is %q (%v), want the reason %q with %q", text, err, errors.Is(err, want.reason), want.reason, want.words)
		}
		if again := Explain(fmt.Errorf("training: %w", err)); !strings.Contains(again.Error(), "training: ") || strings.Count(again.Error(), want.reason.Error()+": ") != 1 {
			t.Errorf("explained twice: %q", again)
		}
	}
}

func TestOtherErrorsStayAsTheyAre(t *testing.T) {
	plain := errors.New("the loss is not a number in epoch 3")
	if got := Explain(plain); got != plain {
		t.Errorf("became %q", got)
	}
	if Explain(nil) != nil {
		t.Error("no error became one")
	}
	long := errors.New("backend \"xla\": some failure -- set GOMLX_BACKEND\nstack")
	if got := Explain(long); got.Error() != "some failure" || !errors.Is(got, long) {
		t.Errorf("became %q", got)
	}
}

func TestBytesAreReadable(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1024: "1.0 KiB", 85899345920: "80.0 GiB", 1 << 60: "1048576.0 TiB"} {
		if got := bytesText(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	if got := readableBytes("many bytes"); got != "many bytes" {
		t.Errorf("became %q", got)
	}
}

// A step that is too large for the memory is explained without the names of GoMLX's functions.
func TestAStepThatIsTooLargeIsExplained(t *testing.T) {
	large := &backend.TooLargeError{Records: 32, Need: 3_200_000_000, Free: 1_400_000_000}
	got := Explain(fmt.Errorf("failed to execute graph %q: %w", "Exec:build-fm#1", large))
	const want = "one step on 32 records needs about 3.2 GB, and 1.4 GB are free: use a batch of fewer records, smaller images or a smaller network"
	var kept *backend.TooLargeError
	if got.Error() != want || !errors.As(got, &kept) || HasFailed(got) {
		t.Errorf("%v", got)
	}
	if large.Records = 0; !strings.HasPrefix(large.Error(), "one step needs about 3.2 GB") {
		t.Errorf("%v", large)
	}
}

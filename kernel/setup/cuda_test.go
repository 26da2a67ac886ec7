// Tests of cuda.go and card.go.

package setup

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
)

const (
	h100    = "NVIDIA H100 80GB HBM3, 81559, 81000, 580.65.06\n"
	oldCard = "Tesla T4, 15360, 15000, 535.288.01\n"
)

func newCUDAMachine(t *testing.T) *testMachine {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the pinned plugin is for Linux on amd64")
	}
	w := newTestMachine(t)
	w.writeFile("wheel/jax_plugins/xla_cuda13/xla_cuda_plugin.so", "elf")
	w.writeFile("wheel/nvidia/cu13/lib/libcudart.so.13", "elf")
	w.cards(h100)
	return w
}

func (w *testMachine) cuda(download bool) (CUDA, error) {
	return w.cudaOnDisk(download, 2*cudaDisk)
}

// cudaOnDisk is cuda on a disk with so many free bytes.
func (w *testMachine) cudaOnDisk(download bool, free int64) (CUDA, error) {
	disk := func(string) (int64, bool) { return free, true }
	return CUDAPlugin(context.Background(), Options{Home: w.home, Folder: w.root, Out: w.out, disk: disk}, download)
}

func TestTheCUDAPluginIsDownloadedByHashOnceWithItsLibrariesBesideIt(t *testing.T) {
	w := newCUDAMachine(t)
	for range 2 {
		got, err := w.cuda(false)
		if err != nil {
			t.Fatal(err)
		}
		real, err := filepath.EvalSymlinks(got.Path)
		if err != nil || got.JAX != "" || filepath.Base(real) != "xla_cuda_plugin.so" || engine.InstalledPlugin(w.home, "cuda") != got.Path {
			t.Errorf("%+v is %s, %v; the engine finds %s", got, real, err, engine.InstalledPlugin(w.home, "cuda"))
		}
		if site := filepath.Dir(filepath.Dir(filepath.Dir(real))); !isFile(filepath.Join(site, "nvidia/cu13/lib/libcudart.so.13")) {
			t.Errorf("CUDA's libraries are not beside %s", real)
		}
	}
	calls := strings.Join(w.calls(), "\n")
	if strings.Count(calls, "pip install --target") != 1 || !strings.Contains(calls, "--require-hashes") || !strings.Contains(calls, "--no-cache-dir") {
		t.Errorf("calls:\n%s", calls)
	}
	if left := w.leftovers(); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	if _, _, err := Remove(context.Background(), w.home); err != nil || engine.InstalledPlugin(w.home, "cuda") != "" {
		t.Errorf("the plugin is still there: %v", err)
	}
}

func TestEveryCUDAPackageIsPinnedWithItsHash(t *testing.T) {
	packages := regexp.MustCompile(`(?m)^[a-z0-9-]+==[0-9.]+ \\\n    --hash=sha256:[0-9a-f]{64}$`).FindAllString(cudaRequirements, -1)
	if len(packages) != 15 || strings.Count(cudaRequirements, "==") != len(packages) || !strings.HasPrefix(packages[0], "jax-cuda13-pjrt==") {
		t.Errorf("%d packages with hashes: %q", len(packages), packages)
	}
}

func TestThePluginOfAnInstalledJAXIsTakenUnlessTheDownloadIsWanted(t *testing.T) {
	w := newCUDAMachine(t)
	w.writeFile("site/jax_plugins/xla_cuda12/xla_cuda_plugin.so", "elf")
	jax := filepath.Join(w.dir, "site/jax_plugins/xla_cuda12/xla_cuda_plugin.so")
	w.writeFile("jax", jax+"\n")
	w.cards(oldCard) // the JAX of CUDA 12 runs on it
	got, err := w.cuda(false)
	if err != nil {
		t.Fatal(err)
	}
	if real, _ := filepath.EvalSymlinks(got.Path); got.JAX != jax || real != jax || engine.InstalledPlugin(w.home, "cuda") != got.Path {
		t.Errorf("%+v leads to %s", got, real)
	}
	if calls := w.calls(); len(calls) > 0 {
		t.Errorf("calls: %v", calls)
	}
	w.cards(h100)
	pinned, err := w.cuda(true)
	if err != nil || pinned.JAX != "" || engine.InstalledPlugin(w.home, "cuda") != pinned.Path {
		t.Errorf("%+v, %v, the engine finds %s", pinned, err, engine.InstalledPlugin(w.home, "cuda"))
	}
	if again, err := w.cuda(false); err != nil || engine.InstalledPlugin(w.home, "cuda") != again.Path || again.JAX != jax {
		t.Errorf("%+v, %v, the engine finds %s", again, err, engine.InstalledPlugin(w.home, "cuda"))
	}
	w.remove("site") // the JAX is uninstalled
	if got := engine.InstalledPlugin(w.home, "cuda"); got != pinned.Path {
		t.Errorf("the engine finds %s", got)
	}
}

func TestWhatKeepsCUDAAwayIsSaidBeforeTheDownload(t *testing.T) {
	w := newCUDAMachine(t)
	w.cards(oldCard)
	if _, err := w.cuda(false); err == nil || !strings.Contains(err.Error(), "535.288.01") || !strings.Contains(err.Error(), "needs 580") || !strings.Contains(err.Error(), "jax[cuda12]") {
		t.Errorf("an old driver: %v", err)
	}
	w.program("nvidia-smi", "#!/bin/sh\necho 'Failed to initialize NVML: Driver/library version mismatch'; exit 18\n")
	if _, err := w.cuda(false); err == nil || !strings.Contains(err.Error(), "restart the machine") {
		t.Errorf("a driver in between: %v", err)
	}
	w.cards(h100)
	if _, err := w.cudaOnDisk(false, cudaDisk-1); err == nil || !strings.Contains(err.Error(), "CUDA's libraries need 9") {
		t.Errorf("a full disk: %v", err)
	}
	if calls := w.calls(); len(calls) > 0 {
		t.Errorf("calls: %v", calls)
	}
	w.writeFile("offline", "")
	if _, err := w.cuda(false); err == nil || !strings.Contains(err.Error(), "pip cannot download XLA's CUDA plugin") {
		t.Errorf("offline: %v", err)
	}
	w.remove("offline")
	w.remove("wheel/jax_plugins")
	if _, err := w.cuda(false); err == nil || !strings.Contains(err.Error(), "holds 0 shared libraries") {
		t.Errorf("an empty wheel: %v", err)
	}
	if engine.InstalledPlugin(w.home, "cuda") != "" {
		t.Error("there is a plugin")
	}
}

func TestWithoutACardThePluginIsFetchedAndItIsSaid(t *testing.T) {
	w := newCUDAMachine(t)
	w.cards("")
	if _, err := w.cuda(false); err != nil {
		t.Fatal(err)
	}
	if said := w.printed(); !strings.Contains(said, "no NVIDIA card here") || !strings.Contains(said, "2 GB") {
		t.Errorf("said %q", said)
	}
	if r := w.ready(); r.CUDA {
		t.Error("there is a kernel for a card that is not there")
	}
}

func TestACardWithItsPluginBringsTheCUDAKernel(t *testing.T) {
	w := newCUDAMachine(t)
	if _, err := w.cuda(false); err != nil {
		t.Fatal(err)
	}
	r := w.ready()
	b, err := os.ReadFile(filepath.Join(r.Kernels, KernelCUDA, "kernel.json"))
	for _, want := range []string{`"Lethe (Go, CUDA)"`, `"LETHE_ENGINE": "xla:cuda"`, `"CGO_ENABLED": "1"`} {
		if err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%v, no %s in %s", err, want, b)
		}
	}
	if !r.CUDA || r.XLA {
		t.Errorf("%+v", r)
	}
	if b, err := os.ReadFile(filepath.Join(r.Kernels, KernelGo, "kernel.json")); err != nil || strings.Contains(string(b), "LETHE_ENGINE") {
		t.Errorf("the first kernel changed: %v, %s", err, b)
	}
	data := t.TempDir()
	if dirs, err := r.Install(data); err != nil || len(dirs) != 2 {
		t.Errorf("installed %v, %v", dirs, err)
	}
	if dirs, err := Uninstall(data); err != nil || len(dirs) != 2 {
		t.Errorf("uninstalled %v, %v", dirs, err)
	}
}

func TestWithoutACompilerTheKernelsWithXLAAreLeftOutAndItIsSaid(t *testing.T) {
	w := newCUDAMachine(t)
	if _, err := w.cuda(false); err != nil {
		t.Fatal(err)
	}
	w.remove("bin/gcc")
	t.Setenv("PATH", filepath.Join(w.dir, "bin"))
	for _, name := range []string{"sh", "cat", "mkdir", "cp", "basename", "grep", "sleep"} {
		if err := os.Symlink("/bin/"+name, filepath.Join(w.dir, "bin", name)); err != nil {
			t.Fatal(err)
		}
	}
	w.printed()
	r := w.ready()
	if said := w.printed(); r.CUDA || !strings.Contains(said, "there is no kernel Lethe (Go, CUDA)") || !strings.Contains(said, "C compiler") {
		t.Errorf("%v, said %q", r.CUDA, said)
	}
}

func TestCardsAreReadFromNvidiaSMI(t *testing.T) {
	got, err := parseCards(h100 + "Card, with a comma, 100, 50, 570.1\nGRID A100, [N/A], [N/A], 550.54.15\n\n")
	if err != nil || len(got) != 3 {
		t.Fatalf("%v, %v", got, err)
	}
	if got[0] != (Card{"NVIDIA H100 80GB HBM3", 81559 << 20, 81000 << 20, "580.65.06"}) || got[0].DriverTooOld() {
		t.Errorf("%+v", got[0])
	}
	if got[1].Name != "Card, with a comma" || got[1].Free != 50<<20 || !got[1].DriverTooOld() {
		t.Errorf("%+v", got[1])
	}
	if got[2].Memory != 0 || got[2].Driver != "550.54.15" {
		t.Errorf("%+v", got[2])
	}
	for _, text := range []string{"No devices were found\n", "a, b, c\n"} {
		if got, err := parseCards(text); err == nil {
			t.Errorf("%q gave %v", text, got)
		}
	}
	if (Card{Driver: "unknown"}).DriverTooOld() {
		t.Error("a version that is not understood is too old")
	}
}

func FuzzParseCards(f *testing.F) {
	f.Add(h100)
	f.Add("a, b, c\n,,,\n")
	f.Add("x, -1, 99999999999999999999, 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		cards, _ := parseCards(text)
		for _, c := range cards {
			if c.Memory < 0 || c.Free < 0 {
				t.Errorf("%q gave %+v", text, c)
			}
		}
	})
}

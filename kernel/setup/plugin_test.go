// Tests of plugin.go.

package setup

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
)

func (w *testMachine) plugin() (string, error) {
	return Plugin(context.Background(), Options{Home: w.home, Folder: w.root, Out: w.out})
}

func newPluginMachine(t *testing.T) *testMachine {
	if runtime.GOOS != "linux" {
		t.Skip("the plugin is published for Linux")
	}
	w := newTestMachine(t)
	w.writeFile("wheel/xla_plugins/xla_cpu_pjrt/__init__.py", "")
	w.writeFile("wheel/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so", "elf")
	return w
}

func TestThePluginIsDownloadedByHashOnceAndTakenOutOfItsWheel(t *testing.T) {
	w := newPluginMachine(t)
	for range 2 {
		path, err := w.plugin()
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != "elf" || filepath.Base(path) != "pjrt_c_api_cpu_plugin.so" {
			t.Errorf("%s: %q, %v", path, b, err)
		}
	}
	calls := strings.Join(w.calls(), "\n")
	if strings.Count(calls, "pip install --target") != 1 || !strings.Contains(calls, "--require-hashes") {
		t.Errorf("calls:\n%s", calls)
	}
	if said := w.printed(); strings.Contains(said, "notebooks") || !strings.Contains(said, "XLA's CPU plugin") {
		t.Errorf("said %q", said)
	}
}

func TestThePluginThatWasGotBringsTheSecondKernel(t *testing.T) {
	w := newPluginMachine(t)
	path, err := w.plugin()
	if err != nil {
		t.Fatal(err)
	}
	r := w.ready()
	b, err := os.ReadFile(filepath.Join(r.Kernels, KernelXLA, "kernel.json"))
	if err != nil || !r.XLA || !strings.Contains(string(b), engine.EnvPlugin) || !strings.Contains(string(b), path) {
		t.Errorf("%v, %s", err, b)
	}
	t.Setenv("LETHE_HOME", w.home)
	OfferPlugin()
	if got := os.Getenv(engine.EnvPlugin); got != path {
		t.Errorf("%s is %q, want %q", engine.EnvPlugin, got, path)
	}
	if _, _, err := Remove(context.Background(), w.home); err != nil || isFile(path) {
		t.Errorf("the plugin is still there: %v", err)
	}
}

func TestAPluginThatIsNamedIsNotReplaced(t *testing.T) {
	w := newPluginMachine(t)
	if _, err := w.plugin(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LETHE_HOME", w.home)
	t.Setenv(engine.EnvPlugin, "/mine.so")
	OfferPlugin()
	if got := os.Getenv(engine.EnvPlugin); got != "/mine.so" {
		t.Errorf("%s became %q", engine.EnvPlugin, got)
	}
}

func TestAPluginThatIsNotWholeIsNotOffered(t *testing.T) {
	w := newPluginMachine(t)
	path, err := w.plugin()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(pluginStamp(path)); err != nil { // as if the program had been killed while it wrote
		t.Fatal(err)
	}
	t.Setenv("LETHE_HOME", w.home)
	OfferPlugin()
	if got := os.Getenv(engine.EnvPlugin); got != "" {
		t.Errorf("offered %s", got)
	}
	if r := w.ready(); r.XLA {
		t.Error("there is a kernel with XLA")
	}
}

func TestAPluginThatCannotBeGotIsExplained(t *testing.T) {
	w := newPluginMachine(t)
	w.writeFile("offline", "")
	if _, err := w.plugin(); err == nil || !strings.Contains(err.Error(), "pip cannot download XLA's plugin") {
		t.Errorf("offline: %v", err)
	}
	w.remove("offline")
	w.remove("wheel/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so")
	if _, err := w.plugin(); err == nil || !strings.Contains(err.Error(), "holds 0 shared libraries") {
		t.Errorf("an empty wheel: %v", err)
	}
}

//go:build cgo && !noxla && (xla || (linux && (amd64 || arm64)))

// The device of a plugin for provenance and lethe doctor, and the folder of its compiled
// programs.

package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/lethe-ml/lethe/lib/engine/plugin"
	"github.com/lethe-ml/lethe/lib/files"
)

// describeDevice describes the open device, without paths, so that the same device has the same
// description on every machine.
func (e *Engine) describeDevice(path, flags string) Device {
	d := e.plugin.Device()
	out := Device{Name: d.Kind, Driver: nvidiaDriver(), Plugin: pluginName(path, e.plugin.Interface()), Flags: plainFlags(flags)}
	if !e.separateMemory {
		out.Driver = ""
	}
	if v := os.Getenv(envTF32); v != "" && e.separateMemory {
		out.Flags = strings.TrimSpace(out.Flags + " " + envTF32 + "=" + v)
	}
	return out
}

// wheelVersion finds the version in the name of a wheel's folder.
var wheelVersion = regexp.MustCompile(`^jax_(?:cuda\d+|rocm\d*)_pjrt-([0-9.]+)\.dist-info$`)

// pluginName returns the platform of a plugin with its versions: that of the wheel it came from,
// where there is one, and that of its interface.
func pluginName(path, version string) string {
	name := platform(path)
	site := filepath.Dir(filepath.Dir(filepath.Dir(path)))
	entries, _ := os.ReadDir(site)
	for _, entry := range entries {
		if found := wheelVersion.FindStringSubmatch(entry.Name()); found != nil {
			name += " of JAX " + found[1]
		}
	}
	return name + ", PJRT " + version
}

// plainFlags returns XLA's flags without folders.
func plainFlags(flags string) string {
	var out []string
	for _, flag := range strings.Fields(flags) {
		if !strings.ContainsAny(flag, `/\`) {
			out = append(out, flag)
		}
	}
	return strings.Join(out, " ")
}

// driverFile is where NVIDIA's driver says its version.
var driverFile = "/proc/driver/nvidia/version"

var driverVersion = regexp.MustCompile(`Kernel Module.*?\s(\d+\.\d+(?:\.\d+)?)\s`)

// nvidiaDriver returns the version of NVIDIA's driver, or "".
func nvidiaDriver() string {
	b, err := files.Read(driverFile, 1<<16)
	if err != nil {
		return ""
	}
	if found := driverVersion.FindSubmatch(b); found != nil {
		return string(found[1])
	}
	return ""
}

// explainDriver returns the error of a plugin for CUDA 13 that sees no card as one about the
// driver, if that is too old: XLA gives the same message for both.
func explainDriver(err error, path string) error {
	driver := nvidiaDriver()
	if !errors.Is(err, ErrDevice) || !strings.Contains(path, "cuda13") || !DriverTooOld(driver) {
		return err
	}
	return &explained{fmt.Sprintf("%v: driver %s is here, and CUDA 13 needs %d or newer: install a newer one, or name the plugin of a JAX for CUDA 12",
		ErrDriver, driver, OldestDriver), []error{ErrDriver, err}}
}

// EnvPrograms is the environment variable with the folder for compiled programs; "off" means
// that none are kept.
const EnvPrograms = "LETHE_XLA_PROGRAMS"

// programFolder returns the folder for a plugin's compiled programs, "" if none are kept. XLA's
// compilation for a CPU depends on the processor and is quick, so those of a CPU are not kept
// unless the environment names a folder.
func programFolder(path string) string {
	dir := os.Getenv(EnvPrograms)
	switch {
	case dir == "off":
		return ""
	case dir != "":
		if abs, err := filepath.Abs(dir); err == nil {
			return abs
		}
		return ""
	case platform(path) == "cpu":
		return ""
	}
	home, err := files.Home()
	if err != nil {
		return ""
	}
	return filepath.Join(PluginFolder(home), "programs")
}

// programKey returns what compiled programs depend on besides their text and the card: the
// plugin's file, the flags and the driver.
func programKey(path, flags string) string {
	h := sha256.New()
	if info, err := os.Stat(path); err == nil {
		fmt.Fprintf(h, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
	}
	fmt.Fprintf(h, "%s\n%s\n%s\n", flags, os.Getenv(envTF32), nvidiaDriver())
	return hex.EncodeToString(h.Sum(nil))
}

// loadedPlugin is a plugin in use.
type loadedPlugin struct{ *plugin.Plugin }

func (p loadedPlugin) Interface() string { return p.Version }

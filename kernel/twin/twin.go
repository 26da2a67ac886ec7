// Package twin lets a plainly built program go on in its SIMD build. Go cannot
// be asked for GOEXPERIMENT=simd in go.mod, and without it the engine's matrix
// products are up to 18 times slower; so the program builds a second self once,
// keeps it in the cache folder under a hash of its sources, and becomes it.
//
// Where that is impossible the program says in one line why and what it costs,
// and goes on as it is.
package twin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/lib/engine"
	"golang.org/x/sys/cpu"
)

// Environment variables.
const (
	EnvSwitch = "LETHE_SIMD" // "off": stay in the plain build
	EnvHome   = "LETHE_HOME" // folder for what the program builds
	envGuard  = "LETHE_TWIN" // set for the twin, so that it never starts another
)

const cost = "matrix products are up to 18 times slower than with SIMD"

// Enter goes on in the SIMD build and then does not return; the twin gets the
// same arguments, environment and streams. It returns nil where the program is
// that build already, where the user has switched it off, or where it cannot be
// had, which it says on w. The error is that of ctx.
func Enter(ctx context.Context, w io.Writer) error {
	if engine.SIMDBuild || Off(os.Getenv(EnvSwitch)) {
		return nil
	}
	err := enter(ctx, w)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		fmt.Fprintf(w, "lethe: no SIMD engine: %v; %s\n", err, cost)
	}
	return nil
}

// Arrived is called by the SIMD build when it starts: programs that it starts
// may have twins of their own.
func Arrived() { os.Unsetenv(envGuard) }

// Off reports whether a variable of the environment switches something off.
func Off(v string) bool {
	switch strings.ToLower(v) {
	case "off", "0", "no", "false":
		return true
	}
	return false
}

func enter(ctx context.Context, w io.Writer) error {
	if err := possible(); err != nil {
		return err
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return errors.New("this program does not say what it was built from")
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	src, err := locate(info, exe)
	if err != nil {
		return err
	}
	home, err := Home()
	if err != nil {
		return err
	}
	b := builder{bin: filepath.Join(home, "bin"), say: func(line string) { fmt.Fprintln(w, "lethe:", line) }}
	path, err := b.ensure(ctx, src)
	if err != nil {
		return err
	}
	return become(path, os.Args, append(os.Environ(), envGuard+"="+filepath.Base(path)))
}

// possible names the first reason why no twin can help on this machine.
func possible() error {
	switch {
	case os.Getenv(envGuard) != "":
		return fmt.Errorf("%s is set, but this is not the SIMD build", envGuard)
	case runtime.GOARCH != "amd64":
		return fmt.Errorf("there is none for %s", runtime.GOARCH)
	case !cpu.X86.HasAVX2:
		return errors.New("this processor has no AVX2")
	}
	return nil
}

// Home returns the folder for what the program builds: LETHE_HOME, or lethe in
// the user's cache folder.
func Home() (string, error) {
	if dir := os.Getenv(EnvHome); dir != "" {
		return filepath.Abs(dir)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder to keep it in: set %s (%w)", EnvHome, err)
	}
	return filepath.Join(cache, "lethe"), nil
}

// keep is how many twins stay in the cache folder.
const keep = 4

// prune removes all but the twins used last. What cannot be removed stays.
func prune(bin string) {
	twins, err := filepath.Glob(filepath.Join(bin, prefix+"*"))
	if err != nil {
		return
	}
	used := func(path string) time.Time {
		info, err := os.Stat(path)
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	removeOldest(twins, used)
}

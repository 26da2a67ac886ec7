package twin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const prefix = "lethe-simd-"

// builder keeps twins in a folder.
type builder struct {
	bin string
	say func(line string)
}

// ensure returns the path of the source's twin, which it builds where there is
// none. Of two programs that start at the same time one builds.
func (b builder) ensure(ctx context.Context, s source) (string, error) {
	path := filepath.Join(b.bin, prefix+s.hash)
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if s.fixed && isFile(path) {
		now := time.Now()
		_ = os.Chtimes(path, now, now) // prune keeps what was used last
		return path, nil
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		return "", errors.New("there is no go tool on PATH to build it with")
	}
	if err := os.MkdirAll(b.bin, 0o755); err != nil {
		return "", err
	}
	lock := flock.New(filepath.Join(b.bin, ".lock-"+s.hash))
	if err := b.acquire(ctx, lock); err != nil {
		return "", err
	}
	defer func() { _ = lock.Unlock() }()
	if s.fixed && isFile(path) {
		return path, nil
	}
	if err := b.build(ctx, tool, s, path); err != nil {
		return "", err
	}
	_ = os.Remove(lock.Path())
	prune(b.bin)
	return path, nil
}

func (b builder) acquire(ctx context.Context, lock *flock.Flock) error {
	got, err := lock.TryLock()
	if err == nil && !got {
		b.say("waiting for another lethe that builds the SIMD engine")
		_, err = lock.TryLockContext(ctx, 100*time.Millisecond)
	}
	return err
}

// build runs the go tool and moves the twin into place in one step.
func (b builder) build(ctx context.Context, tool string, s source, path string) error {
	if s.fixed {
		b.say("building the SIMD engine once, about a minute; later starts use it (" + EnvSwitch + "=off does without)")
	}
	work, err := os.MkdirTemp(b.bin, ".build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	cmd := s.command(ctx, tool, work)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("%s failed (%w): %s", strings.Join(cmd.Args[1:3], " "), err, firstLine(log.Bytes()))
	}
	return os.Rename(filepath.Join(work, binary()), path)
}

// command builds the twin as work/lethe.
func (s source) command(ctx context.Context, tool, work string) *exec.Cmd {
	args := []string{"build", "-buildvcs=false", "-o", filepath.Join(work, binary())}
	if s.version != "" {
		args = []string{"install"}
	}
	if s.tags != "" {
		args = append(args, "-tags", s.tags)
	}
	env := append(os.Environ(), "GOEXPERIMENT="+s.experi)
	if s.cgo != "" {
		env = append(env, "CGO_ENABLED="+s.cgo)
	}
	cmd := exec.CommandContext(ctx, tool)
	if s.version != "" {
		cmd.Dir, cmd.Env = work, append(env, "GOBIN="+work)
		cmd.Args = append(append(cmd.Args, args...), module+"@"+s.version)
		return cmd
	}
	cmd.Dir, cmd.Env = s.root, env
	cmd.Args = append(append(cmd.Args, args...), ".")
	return cmd
}

func binary() string {
	if runtime.GOOS == "windows" {
		return "lethe.exe"
	}
	return "lethe"
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// firstLine is the first line that says something; lines with # only name the
// package.
func firstLine(log []byte) string {
	for line := range strings.Lines(string(log)) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return "no message"
}

// removeOldest deletes all but the paths used last.
func removeOldest(paths []string, used func(string) time.Time) {
	slices.SortFunc(paths, func(a, b string) int { return used(b).Compare(used(a)) })
	for _, path := range paths[min(keep, len(paths)):] {
		_ = os.Remove(path)
	}
}

//go:build unix

package e2e

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
)

const address = "http://127.0.0.1:8888/lab/tree/start/00.ipynb?token=abc"

func sh(script string) *exec.Cmd { return exec.Command("/bin/sh", "-c", script) }

func TestTheAddressIsTheFirstLineThatIsPrinted(t *testing.T) {
	lab, got, err := startAndRead(t.Context(), sh("echo '"+address+"'; echo and more; exec sleep 60"), time.Minute)
	if err != nil || got != address {
		t.Errorf("got %q, %v", got, err)
	}
	lab.Stop(10 * time.Second)
	if !endedBy(lab, syscall.SIGTERM) {
		t.Errorf("the program was asked to stop and ended with: %v", lab.Err)
	}
}

func endedBy(c *proc.Child, sig syscall.Signal) bool {
	var exit *exec.ExitError
	return errors.As(c.Err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == sig
}

func TestALabWithoutAnAddressIsAnError(t *testing.T) {
	stopped, stop := context.WithCancelCause(t.Context())
	stop(errors.New("Ctrl-C"))
	for _, c := range []struct {
		name, script, want string
		ctx                context.Context
		patience           time.Duration
	}{
		{"ends", "exit 3", "exit status 3", t.Context(), time.Minute},
		{"says something else", "echo hello; exec sleep 60", "hello", t.Context(), time.Minute},
		{"is silent", "exec sleep 60", "no address in 50ms", t.Context(), 50 * time.Millisecond},
		{"is interrupted", "exec sleep 60", "Ctrl-C", stopped, time.Minute},
	} {
		lab, got, err := startAndRead(c.ctx, sh(c.script), c.patience)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("a lab that %s: got %q, %v; want %q in it", c.name, got, err, c.want)
		}
		lab.Stop(10 * time.Second)
	}
	if _, _, err := startAndRead(t.Context(), exec.Command("/nowhere/lethe"), time.Minute); err == nil || !strings.Contains(err.Error(), "cannot be started") {
		t.Errorf("a lab that is not there: %v", err)
	}
}

func TestAddressesAreCheckedForHostAndToken(t *testing.T) {
	for _, good := range []string{address, "http://localhost:1/lab?token=x", "http://[::1]:80/lab?token=x"} {
		if err := checkAddress(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for bad, want := range map[string]string{
		"":                                   "http and a port",
		"http://127.0.0.1/lab?token=x":       "http and a port",
		"https://127.0.0.1:1/lab?token=x":    "http and a port",
		"http://example.org:80/lab?token=x":  "this machine",
		"http://10.0.0.1:80/lab?token=x":     "this machine",
		"http://127.0.0.1:8888/lab":          "token",
		"http://127.0.0.1:8888/lab?token=":   "token",
		"http://127.0.0.1:port/lab?token=x":  "no address",
		"lethe: setting up the notebooks in": "http and a port",
	} {
		if err := checkAddress(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q in it", bad, err, want)
		}
	}
}

func FuzzAddressesThatPassHaveAToken(f *testing.F) {
	for _, s := range []string{address, "", "http://localhost:1?token=", "http://127.0.0.1:1/?a=1&token=%41", "http://[::1]:9/#token=x", "http://%31:1/?token=x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if checkAddress(s) == nil && !strings.Contains(s, "token") && !strings.Contains(s, "%") {
			t.Errorf("%q passes without a token", s)
		}
	})
}

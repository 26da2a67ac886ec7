//go:build unix

// A fake kernel that collects what a cell prints and shows.

package nb

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// The tests of notebook mode run a scene, a function that stands for a cell, in
// a process of its own, with the two named pipes that the kernel gives to one.
// The fake kernel reads them as the real one does: standard output, standard
// error and the pipe each in a goroutine of its own.

const testCellEnv = "LETHE_NB_TEST_SCENE"

func TestMain(m *testing.M) {
	if name := os.Getenv(testCellEnv); name != "" {
		scene, ok := testCells[name]
		if !ok {
			os.Exit(99)
		}
		scene()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// event is one thing that arrived at the kernel.
type event struct {
	source string // "stdout", "stderr" or "show"
	text   string // what was printed
	data   map[protocol.MIMEType]any
	meta   map[string]any
	id     string
	at     time.Time
}

type fakeKernel struct {
	t      *testing.T
	cmd    *exec.Cmd
	mu     sync.Mutex
	events []event
	// browser, when it is set, plays the sliders' script: it runs once the cell
	// listens, and says its messages to the cell.
	browser func(say func(message))
	wg      sync.WaitGroup
}

// runCell runs a scene to its end and returns what arrived and the exit code.
func runCell(t *testing.T, scene string, env ...string) ([]event, int) {
	t.Helper()
	k := &fakeKernel{t: t}
	k.start(scene, env...)
	return k.wait()
}

func (k *fakeKernel) start(scene string, env ...string) {
	t := k.t
	t.Helper()
	dir := t.TempDir()
	there, back := filepath.Join(dir, "there"), filepath.Join(dir, "back")
	for _, p := range []string{there, back} {
		if err := syscall.Mkfifo(p, 0o600); err != nil {
			t.Skip("no named pipes here:", err)
		}
	}
	k.cmd = exec.Command(os.Args[0])
	k.cmd.Env = append(os.Environ(), testCellEnv+"="+scene, protocol.GONB_PIPE_ENV+"="+there, protocol.GONB_PIPE_BACK_ENV+"="+back)
	k.cmd.Env = append(k.cmd.Env, env...)
	out, err := k.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs, err := k.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := k.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	k.wg.Add(2)
	go k.stream("stdout", out)
	go k.stream("stderr", errs)
	go k.pipe(there, back)
}

func (k *fakeKernel) wait() ([]event, int) {
	k.t.Helper()
	timer := time.AfterFunc(20*time.Second, func() { _ = k.cmd.Process.Kill() })
	defer timer.Stop()
	k.wg.Wait()
	err := k.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		k.t.Fatal(err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.events, k.cmd.ProcessState.ExitCode()
}

func (k *fakeKernel) add(e event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e.at = time.Now()
	k.events = append(k.events, e)
}

func (k *fakeKernel) stream(name string, r io.Reader) {
	defer k.wg.Done()
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			k.add(event{source: name, text: string(buf[:n])})
		}
		if err != nil {
			return
		}
	}
}

func (k *fakeKernel) pipe(there, back string) {
	r, err := os.Open(there)
	if err != nil {
		return
	}
	defer r.Close()
	w, err := os.OpenFile(back, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer w.Close()
	dec, enc := gob.NewDecoder(r), gob.NewEncoder(w)
	var mu sync.Mutex
	answer := func(v protocol.CommValue) {
		mu.Lock()
		defer mu.Unlock()
		_ = enc.Encode(&v)
	}
	for {
		d := &protocol.DisplayData{}
		if dec.Decode(d) != nil {
			return
		}
		v, isValue := d.Data[protocol.MIMECommValue].(protocol.CommValue)
		switch {
		case isValue && v.Address == protocol.GonbuiSyncAddress:
			answer(protocol.CommValue{Address: protocol.GonbuiSyncAckAddress, Value: v.Value})
		case d.Data[protocol.MIMECommSubscribe] != nil:
			if sub, ok := d.Data[protocol.MIMECommSubscribe].(protocol.CommSubscription); ok && k.browser != nil {
				go k.browser(func(m message) {
					text, _ := json.Marshal(m)
					answer(protocol.CommValue{Address: sub.Address, Value: string(text)})
				})
			}
		default:
			k.add(event{source: "show", data: d.Data, meta: d.Metadata, id: d.DisplayID})
		}
	}
}

// until waits for something to be shown.
func (k *fakeKernel) until(text string) {
	for range 1000 {
		k.mu.Lock()
		for _, e := range k.events {
			if s, _ := e.data["text/plain"].(string); strings.Contains(s+e.text, text) {
				k.mu.Unlock()
				return
			}
		}
		k.mu.Unlock()
		time.Sleep(5 * time.Millisecond)
	}
	k.t.Errorf("%q never came", text)
}

// ready waits until the cell has heard a message, and has drawn what it asked for.
func (k *fakeKernel) ready(number int) {
	k.untilHTML(fmt.Sprintf("&#34;heard&#34;:%d,", number), statusReady)
}

// untilHTML waits for an output whose HTML has all of some texts.
func (k *fakeKernel) untilHTML(texts ...string) {
	has := func(e event) bool {
		page, _ := e.data["text/html"].(string)
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(page, text) })
	}
	for range 1000 {
		k.mu.Lock()
		found := slices.ContainsFunc(k.events, has)
		k.mu.Unlock()
		if found {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	k.t.Errorf("no page with %q", texts)
}

// printed joins what came over one stream.
func printed(events []event, from string) string {
	var b bytes.Buffer
	for _, e := range events {
		if e.source == from {
			b.WriteString(e.text)
		}
	}
	return b.String()
}

// shownEvents are the outputs, without what was printed.
func shownEvents(events []event) []event {
	var out []event
	for _, e := range events {
		if e.source == "show" {
			out = append(out, e)
		}
	}
	return out
}

//go:build unix

// Outputs in a real gonb.

package nb

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
)

// findGonb finds a gonb to test with: LETHE_TEST_GONB, or the one that Lethe
// has built in its folder.
func findGonb(t *testing.T) string {
	t.Helper()
	file := os.Getenv("LETHE_TEST_GONB")
	if file == "" {
		home := os.Getenv("LETHE_HOME")
		if cache, err := os.UserCacheDir(); home == "" && err == nil {
			home = filepath.Join(cache, "lethe")
		}
		file = filepath.Join(home, "bin", "gonb")
	}
	if _, err := os.Stat(file); err != nil {
		t.Skip("no gonb to test with (set LETHE_TEST_GONB):", err)
	}
	t.Setenv("PATH", filepath.Dir(file)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for _, tool := range []string{"go", "goimports"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("gonb needs", tool)
		}
	}
	return file
}

// client speaks to a kernel over two of its sockets.
type client struct {
	t            *testing.T
	shell, iopub zmq4.Socket
	heard        chan [2][]byte // of iopub: header and content
	number       int
}

const clientKey = "no secret"

// connect starts gonb and waits until its messages arrive.
func connect(t *testing.T, gonb string) *client {
	t.Helper()
	dir := t.TempDir()
	ports := make([]int, 5)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports[i] = l.Addr().(*net.TCPAddr).Port
		l.Close()
	}
	file := filepath.Join(dir, "kernel-test.json")
	text := fmt.Sprintf(`{"transport":"tcp","ip":"127.0.0.1","shell_port":%d,"iopub_port":%d,"control_port":%d,"stdin_port":%d,"hb_port":%d,"signature_scheme":"hmac-sha256","key":%q}`,
		ports[0], ports[1], ports[2], ports[3], ports[4], clientKey)
	must(t, os.WriteFile(file, []byte(text), 0o600))
	root, err := filepath.Abs("../..")
	must(t, err)
	cmd := exec.Command(gonb, "--kernel", file, "-raw_error", "-go_work="+root)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false -tags=noxla -ldflags=-s", "GOPROXY=off", "GOTOOLCHAIN=local")
	must(t, cmd.Start())
	ctx, cancel := context.WithCancel(context.Background())
	c := &client{t: t, heard: make(chan [2][]byte, 4096)}
	t.Cleanup(func() {
		// Asked to, gonb ends its gopls; killed, it would leave it behind.
		c.send("shutdown_request", map[string]any{"restart": false})
		kill := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		kill.Stop()
		cancel()
	})
	c.shell, c.iopub = zmq4.NewDealer(ctx, zmq4.WithID(zmq4.SocketIdentity("test"))), zmq4.NewSub(ctx)
	must(t, c.shell.Dial(fmt.Sprintf("tcp://127.0.0.1:%d", ports[0])))
	must(t, c.iopub.Dial(fmt.Sprintf("tcp://127.0.0.1:%d", ports[1])))
	must(t, c.iopub.SetOption(zmq4.OptionSubscribe, ""))
	go c.listen()
	for range 50 {
		c.send("kernel_info_request", map[string]any{})
		select {
		case <-c.heard:
			return c
		case <-time.After(200 * time.Millisecond):
		}
	}
	t.Fatal("gonb does not answer")
	return nil
}

func (c *client) listen() {
	for {
		m, err := c.iopub.Recv()
		if err != nil {
			return
		}
		at := 0
		for at < len(m.Frames) && string(m.Frames[at]) != "<IDS|MSG>" {
			at++
		}
		if at+5 < len(m.Frames) {
			c.heard <- [2][]byte{m.Frames[at+2], m.Frames[at+5]}
		}
	}
}

func (c *client) send(kind string, content map[string]any) string {
	c.t.Helper()
	c.number++
	id := fmt.Sprint("message ", c.number)
	frames := [][]byte{[]byte("<IDS|MSG>"), nil}
	sum := hmac.New(sha256.New, []byte(clientKey))
	for _, part := range []any{map[string]any{"msg_id": id, "msg_type": kind, "session": "test", "username": "", "date": "", "version": "5.3"}, struct{}{}, struct{}{}, content} {
		text, err := json.Marshal(part)
		must(c.t, err)
		sum.Write(text)
		frames = append(frames, text)
	}
	frames[1] = []byte(hex.EncodeToString(sum.Sum(nil)))
	must(c.t, c.shell.SendMulti(zmq4.NewMsgFrom(frames...)))
	return id
}

// run runs a cell and returns what it prints and shows, as text, in the order
// in which a reader sees it.
func (c *client) run(code string) string {
	c.t.Helper()
	c.send("execute_request", map[string]any{"code": code, "silent": false, "store_history": true, "user_expressions": map[string]any{}, "allow_stdin": false})
	var seen strings.Builder
	stop := time.After(60 * time.Second)
	running := false
	for {
		var head struct {
			Type string `json:"msg_type"`
		}
		var content struct {
			Text  string         `json:"text"`
			Data  map[string]any `json:"data"`
			State string         `json:"execution_state"`
			Value string         `json:"evalue"`
		}
		select {
		case frames := <-c.heard:
			must(c.t, json.Unmarshal(frames[0], &head))
			must(c.t, json.Unmarshal(frames[1], &content))
		case <-stop:
			c.t.Fatalf("the cell does not end; so far\n%s", seen.String())
		}
		switch head.Type {
		case "execute_input":
			running = true
		case "stream":
			seen.WriteString(content.Text)
		case "display_data":
			fmt.Fprintln(&seen, content.Data["text/plain"])
		case "error":
			fmt.Fprintln(&seen, content.Value)
		case "status":
			if content.State == "idle" && running {
				return seen.String()
			}
		}
	}
}

func TestRealGonbKeepsTheOrderOfPrintedAndShown(t *testing.T) {
	c := connect(t, findGonb(t))
	got := c.run(`import (
	"errors"
	"fmt"
	"github.com/lethe-ml/lethe/lib/nb"
)

%%
for i := range 200 {
	fmt.Println("line", i)
	nb.Markdown(fmt.Sprint("shown ", i))
}
fmt.Print("the last line")
live := nb.NewLive()
live.Markdown("early")
live.Markdown("late")
nb.Check(errors.New("the end"))`)
	var want strings.Builder
	for i := range alternations {
		fmt.Fprintf(&want, "line %d\nshown %d\n", i, i)
	}
	want.WriteString("the last lineearly\nThis did not work: the end\nexit status 1\nexit status 1\n")
	if got != want.String() {
		t.Errorf("a reader sees\n%s", got)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

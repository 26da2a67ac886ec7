// Tests of connection.go.

package relay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const goodConnection = `{"shell_port":50001,"iopub_port":50002,"stdin_port":50003,"control_port":50004,"hb_port":50005,
"ip":"127.0.0.1","key":"a-b","transport":"tcp","signature_scheme":"hmac-sha256","kernel_name":"lethe-go"}`

func TestConnectionFileOfJupyterIsRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kernel-1.json")
	if err := os.WriteFile(file, []byte(goodConnection), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := readConnection(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.address(c.ShellPort); got != "tcp://127.0.0.1:50001" || c.Key != "a-b" {
		t.Errorf("address %s, key %s", got, c.Key)
	}
	c.Transport, c.IP = "ipc", "/run/k"
	if got := c.address(c.HBPort); got != "ipc:///run/k-50005" {
		t.Errorf("address %s", got)
	}
	c.Transport, c.IP = "tcp", "::1"
	if got := c.address(c.HBPort); got != "tcp://[::1]:50005" {
		t.Errorf("address %s", got)
	}
}

func TestBadConnectionFilesNameFileAndField(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kernel-2.json")
	for _, c := range []struct{ from, to, want string }{
		{`"tcp"`, `"udp"`, `"transport" is "udp"`},
		{`"127.0.0.1"`, `""`, `"ip" is empty`},
		{`"hmac-sha256"`, `"md5"`, `"signature_scheme" is "md5"`},
		{`50002`, `0`, `"iopub_port" is 0`},
		{`50004`, `70000`, `"control_port" is 70000`},
		{`50005`, `-1`, `"hb_port" is -1`},
		{`50001`, `"x"`, `"shell_port" holds a string`},
		{`"shell_port":50001,`, ``, `"shell_port" is 0`},
		{`{`, `[`, `no JSON`},
	} {
		text := strings.Replace(goodConnection, c.from, c.to, 1)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := readConnection(file)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s -> %s: error %v, want %q and the file", c.from, c.to, err, c.want)
		}
	}
	if _, err := readConnection(file + "x"); err == nil || !strings.Contains(err.Error(), file+"x") {
		t.Errorf("missing file: %v", err)
	}
	if err := os.WriteFile(file, make([]byte, maxConnectionFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readConnection(file); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("huge file: %v", err)
	}
}

func TestGonbsConnectionIsPrivate(t *testing.T) {
	dir := t.TempDir()
	c := privateConnection(dir)
	file := filepath.Join(dir, "c.json")
	if err := c.write(file); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	back, err := readConnection(file)
	if err != nil {
		t.Fatal(err)
	}
	if *back != *c || len(c.Key) < 64 || privateConnection(dir).Key == c.Key {
		t.Errorf("%+v became %+v", c, back)
	}
}

func FuzzConnection(f *testing.F) {
	f.Add([]byte(goodConnection))
	f.Add([]byte(`{"ip":null,"transport":"ipc"}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseConnection(data)
		if err != nil {
			return
		}
		again, err := parseConnection(encode(c))
		if err != nil || *again != *c {
			t.Fatalf("%+v became %+v (%v)", c, again, err)
		}
	})
}

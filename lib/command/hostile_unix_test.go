//go:build unix

// Commands with pipes, links and folders in place of files.

package command

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/cli/clitest"
)

// runWithinMinute runs a command line that must come to its end.
func runWithinMinute(t *testing.T, args ...string) clitest.Result {
	t.Helper()
	done := make(chan clitest.Result, 1)
	go func() { done <- clitest.Run(t.Context(), Root(), "", args...) }()
	select {
	case r := <-done:
		return r
	case <-time.After(time.Minute):
		t.Fatalf("%q hangs", args)
	}
	return clitest.Result{}
}

// obstacles put something that is no regular file at a path.
var obstacles = map[string]func(path string) error{
	"a pipe":           func(path string) error { return syscall.Mkfifo(path, 0o600) },
	"a folder":         func(path string) error { return os.Mkdir(path, 0o755) },
	"a link to itself": func(path string) error { return os.Symlink(path, path) },
	"a pipe by a link": func(path string) error {
		pipe := path + ".pipe"
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			return err
		}
		return os.Symlink(pipe, path)
	},
}

// Whatever stands where a command reads or writes a file: no command waits for it.
func TestNoCommandWaitsForWhatIsNoFile(t *testing.T) {
	golden := filepath.Join("..", "model", "onnx", "testdata")
	x, network := filepath.Join(golden, "mlp.x.npy"), filepath.Join(golden, "mlp.onnx")
	state := filepath.Join(stateDicts, "mlp.safetensors")
	audited := func(t *testing.T, without string) string {
		dir := t.TempDir()
		for name, rows := range map[string][]int{"forget": {0, 1, 2}, "heldout": {3, 4, 5, 6}, "labels": {0, 1, 2, 0, 1, 2, 0}} {
			check(t, npy.WriteIndices(filepath.Join(dir, name+".npy"), rows))
		}
		check(t, os.Mkdir(filepath.Join(dir, "unlearned"), 0o755))
		for name, cols := range map[string]int{"outputs": 3, "embedding": 2} {
			m := array.New[float32](7, cols)
			for i := range m.Data {
				m.Data[i] = float32(i*i%11) - 4
			}
			check(t, npy.Write(filepath.Join(dir, "unlearned", name+".npy"), m))
		}
		if without != "" {
			check(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, without)), 0o755))
			check(t, os.RemoveAll(filepath.Join(dir, without)))
		}
		return dir
	}
	for kind, put := range obstacles {
		for _, name := range []string{"forget.npy", "labels.npy", "unlearned/outputs.npy", "unlearned/embedding.npy", "audit.json", "report/report.html", "report/report.md", "report/report.json", "report"} {
			dir := audited(t, name)
			check(t, put(filepath.Join(dir, name)))
			r := runWithinMinute(t, "audit", dir)
			replaced := strings.HasPrefix(name, "report/") && kind == "a link to itself" || name == "report" && kind == "a folder"
			if replaced != (r.Code == cli.ExitOK) || !replaced && !strings.Contains(r.Stderr, name) {
				t.Errorf("audit, %s at %s: %d %s", kind, name, r.Code, r.Stderr)
			}
		}
		for _, args := range [][]string{
			{"audit", "--only", "scores", "--members", "AT", "--nonmembers", x}, {"onnx", "AT"}, {"onnx", network, "--data", "AT", "--out", t.TempDir()}, {"onnx", network, "--data", x, "--out", "AT"},
			{"state", "AT", "--arch", smallMLP}, {"state", state, "--arch", smallMLP, "--data", "AT", "--out", t.TempDir()}, {"audit", "--config", "AT"},
			{"table", "ruler", "1", "--out", "AT.md"}, {"federated", "run", "AT"}, {"sweep", "status", "AT"}, {"runs", "merge", "AT"}, {"audit", "--only", "ruler", "--original", "AT"},
			{"audit", "--only", "losses", "--members", "AT", "--nonmembers", x}, {"audit", "--only", "features", "--members", "AT", "--nonmembers", x},
			{"audit", "--only", "shadows", "--target", "AT", "--shadows", x, "--in", x, "--truth", x},
			{"audit", "--only", "sde", "--target", "AT", "--in", x, "--out", state},
		} {
			at := filepath.Join(t.TempDir(), "at")
			for i, a := range args {
				if strings.HasPrefix(a, "AT") {
					args[i] = strings.Replace(a, "AT", at, 1)
					check(t, put(args[i]))
				}
			}
			if args[0] == "table" && kind != "a folder" {
				continue // it would be made, which takes long
			}
			written := args[len(args)-2] == "--out" && kind == "a folder"
			if r := runWithinMinute(t, args...); !written && (r.Code == cli.ExitOK || r.Stderr == "") {
				t.Errorf("%s: %q: %d %s", kind, args, r.Code, r.Stderr)
			}
		}
	}
}

// Names and words that come from anybody are shown and give no orders.
func TestForeignWordsGiveNoOrders(t *testing.T) {
	const order = "\x1b[2J\u009b31m\a"
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		check(t, os.MkdirAll(filepath.Dir(path), 0o755))
		check(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	header := "{'descr': '" + order + "', 'fortran_order': False, 'shape': (3,), }"
	bad := write("bad.npy", "\x93NUMPY\x01\x00"+string([]byte{byte(len(header) + 1), 0})+header+"\n")
	tensors := `{"` + strings.ReplaceAll(order, "\x1b", `\u001b`) + `":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`
	tensors = strings.ReplaceAll(tensors, "\a", `\u0007`)
	named := write("named.safetensors", string([]byte{byte(len(tensors)), 0, 0, 0, 0, 0, 0, 0})+tensors+"\x00\x00\x00\x00")
	config := write("c/audit.json", `{"`+"\\u001b[2J\u009b31m"+`": 1}`)
	check(t, os.MkdirAll(filepath.Join(dir, "audit", "unlearned"+order), 0o755))
	write("audit/unlearned"+order+"/outputs.npy", "no array")
	for name, args := range map[string][]string{
		"a file's name":        {"audit", "--only", "scores", "--members", filepath.Join(dir, order), "--nonmembers", bad},
		"the header of an npy": {"audit", "--only", "scores", "--members", bad, "--nonmembers", filepath.Join("..", "model", "onnx", "testdata", "mlp.x.npy")},
		"a tensor's name":      {"state", named, "--arch", smallMLP},
		"a field of JSON":      {"audit", "--config", config},
		"a model's name":       {"audit", filepath.Join(dir, "audit")},
		"an argument":          {"list" + order},
		"a flag":               {"list", "--" + order},
		"a value":              {"table", "ruler", order},
	} {
		r := runWithinMinute(t, args...)
		if all := r.Out + r.Stderr; r.Code == cli.ExitOK || strings.ContainsAny(all, "\x1b\a\u009b") || !strings.Contains(all, `[2J`) {
			t.Errorf("%s: %d %q", name, r.Code, all)
		}
	}
}

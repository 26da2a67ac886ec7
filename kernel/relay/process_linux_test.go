package relay

import (
	"os"
	"testing"
)

func TestStatLineIsReadWhateverTheName(t *testing.T) {
	const rest = " 7 8 8 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 12345 0 0"
	for _, c := range []struct {
		line string
		name string
		ok   bool
	}{
		{"42 (go) S" + rest, "go", true},
		{"42 (a) b (c)) R" + rest, "a) b (c)", true},
		{"42 (gone) Z" + rest, "", false},
		{"42 (short) S 1 2", "", false},
		{"x (go) S" + rest, "", false},
		{"42 )go( S" + rest, "", false},
		{"", "", false},
	} {
		m, ok := parseStat([]byte(c.line))
		if ok != c.ok || ok && m != (member{pid: 42, parent: 7, group: 8, name: c.name, started: 12345}) {
			t.Errorf("%q: %+v, %v", c.line, m, ok)
		}
	}
}

func TestThisProcessIsListed(t *testing.T) {
	for _, m := range processes() {
		if m.pid == os.Getpid() {
			if m.parent != os.Getppid() {
				t.Errorf("parent %d, not %d", m.parent, os.Getppid())
			}
			return
		}
	}
	t.Error("not found")
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("1 (a) S 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, ok := parseStat(data); ok && len(m.name) > len(data) {
			t.Fatal("a name longer than the line")
		}
	})
}

// Tests of message.go.

package relay

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

var testKey = []byte("secret")

// request is a message as a client would send it.
func request(kind, content string) *message {
	empty := &message{head: header{Session: "client", Username: "reader"}, rawHead: []byte("{}")}
	m := empty.newReply(kind, nil)
	m.content = []byte(content)
	m.ids = [][]byte{[]byte("client-1")}
	return m
}

func TestSignatureIsTheKnownHMAC(t *testing.T) {
	// Golden value: Python 3.11, hmac.new(b"secret", digestmod="sha256") updated
	// with the four parts below.
	parts := [][]byte{[]byte(`{"msg_id":"1"}`), []byte(`{}`), []byte(`{}`), []byte(`{"a":1}`)}
	const want = "891f1d698842c1c8000a13c5fd79be20dd4782e8d07c8c77cfe6e35a9b3140c5"
	if got := string(sign(parts, testKey)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMessagePassesUnharmedWithAnotherKey(t *testing.T) {
	frames := [][]byte{[]byte("id1"), []byte("id2"), []byte(delimiter), nil,
		[]byte(`{"msg_id": "x", "msg_type": "comm_msg", "subshell_id": null}`),
		[]byte(`{"msg_id":"p","strange":[1,2]}`), []byte(`{"deletedCells":[]}`), []byte(`{"n": 1.0}`),
		[]byte("buffer\x00one"), {}}
	frames[3] = sign(frames[4:8], testKey)
	m, err := parse(frames, testKey)
	if err != nil {
		t.Fatal(err)
	}
	other := []byte("other")
	out := m.frames(other)
	if len(out) != len(frames) {
		t.Fatalf("%d frames became %d", len(frames), len(out))
	}
	for i := range out {
		if i != 3 && !bytes.Equal(out[i], frames[i]) {
			t.Errorf("frame %d: %q became %q", i, frames[i], out[i])
		}
	}
	if _, err := parse(out, other); err != nil {
		t.Errorf("signed again: %v", err)
	}
	if _, err := parse(out, testKey); !errors.Is(err, errSignature) {
		t.Errorf("read with the old key: %v", err)
	}
	if m.head.ID != "x" || m.parent.ID != "p" {
		t.Errorf("header %+v, parent %+v", m.head, m.parent)
	}
}

func TestForgedMessagesAreRefused(t *testing.T) {
	good := request("execute_request", `{"code":"x"}`).frames(testKey)
	for _, at := range []int{2, 3, 4, 5, 6} {
		bad := append([][]byte(nil), good...)
		bad[at] = append([]byte(" "), good[at]...)
		if _, err := parse(bad, testKey); !errors.Is(err, errSignature) {
			t.Errorf("frame %d changed: %v", at, err)
		}
	}
	unsigned := append([][]byte(nil), good...)
	unsigned[2] = nil
	if _, err := parse(unsigned, testKey); !errors.Is(err, errSignature) {
		t.Errorf("no signature: %v", err)
	}
	if _, err := parse(unsigned, nil); err != nil {
		t.Errorf("with an empty key messages are unsigned, but: %v", err)
	}
}

func TestMalformedFramesAreErrors(t *testing.T) {
	ok := request("status", `{}`).frames(nil)
	change := func(at int, text string) [][]byte {
		f := append([][]byte(nil), ok...)
		f[at] = []byte(text)
		return f
	}
	for name, c := range map[string]struct {
		frames [][]byte
		want   string
	}{
		"nothing":        {nil, "no frame"},
		"no delimiter":   {[][]byte{{1}, {2}}, "no frame"},
		"short":          {ok[:6], "fewer than five"},
		"no object":      {change(6, `[1]`), "content is no JSON object"},
		"cut":            {change(5, `{"a":`), "metadata is no JSON object"},
		"empty parent":   {change(4, ``), "parent header is no JSON object"},
		"number as id":   {change(3, `{"msg_id":1,"msg_type":"x"}`), "the header"},
		"no type":        {change(3, `{"msg_id":"1"}`), "no msg_type"},
		"list as parent": {change(4, `{"msg_id":[]}`), "the parent header"},
	} {
		_, err := parse(c.frames, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

// split makes frames of a text: the lines of it.
func split(data []byte) [][]byte { return bytes.Split(data, []byte("\n")) }

func FuzzParse(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte(delimiter))
	f.Add(bytes.Join(request("execute_request", `{"code":"a"}`).frames(nil), []byte("\n")))
	f.Add([]byte("a\n<IDS|MSG>\n\n{\"msg_type\":\"stream\"}\n{}\n{}\n{\"name\":3}\nbuf"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parse(split(data), nil)
		if err != nil {
			return
		}
		again, err := parse(m.frames(testKey), testKey)
		if err != nil {
			t.Fatalf("what was read cannot be read again: %v", err)
		}
		if again.head != m.head || len(again.ids) != len(m.ids) || len(again.buffers) != len(m.buffers) {
			t.Fatal("the message changed")
		}
		// No rule may fall over a message that reads well.
		for p := jupyterShell; p <= jupyterStdin; p++ {
			busy().fromJupyter(p, m)
		}
		m.parent.ID = "running"
		for p := gonbShell; p <= gonbIOPub; p++ {
			busy().fromGonb(p, m)
		}
	})
}

// busy is a machine with a running cell.
func busy() *machine {
	m := &machine{}
	r := request("execute_request", `{"code":"f()"}`)
	r.head.ID = "running"
	m.fromJupyter(jupyterShell, r)
	return m
}

// Tests of gopls.go.

package gopls

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

const roleEnv = "LETHE_TEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleEnv) == "gopls" {
		fake()
		return
	}
	os.Exit(m.Run())
}

// fake is a language server that completes with what it was asked about, asks
// back before it answers, and ends when it is told of a file called bad.go.
func fake() {
	in, files := bufio.NewReader(os.Stdin), map[string]string{}
	say := func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		fmt.Printf("Content-Length: %d\r\n\r\n%s", len(text), text)
	}
	for {
		var m struct {
			ID     int
			Method string
			Params struct {
				TextDocument struct {
					URI, Text string
				}
				ContentChanges []struct{ Text string }
				Position       Position
			}
		}
		question, err := readBody(in)
		if err != nil || json.Unmarshal(question, &m) != nil {
			return
		}
		p := m.Params
		switch m.Method {
		case "textDocument/didOpen":
			files[p.TextDocument.URI] = p.TextDocument.Text
			if strings.HasSuffix(p.TextDocument.URI, "/bad.go") {
				return
			}
		case "textDocument/didChange":
			files[p.TextDocument.URI] = "changed to " + p.ContentChanges[0].Text
		case "textDocument/completion":
			say(`{"jsonrpc":"2.0","id":1,"method":"workspace/configuration","params":{}}`)
			if back, err := readBody(in); err != nil || string(back) != `{"id":1,"jsonrpc":"2.0","result":null}` {
				return
			}
			say(`{"jsonrpc":"2.0","id":%d,"result":{"items":[{"label":%q,"kind":3,"textEdit":{"newText":"x","range":{"start":{"line":%d,"character":%d}}}}]}}`,
				m.ID, files[p.TextDocument.URI], p.Position.Line, p.Position.Character)
		case "textDocument/hover":
			say(`{"jsonrpc":"2.0","id":%d,"result":null}`, m.ID)
		case "textDocument/signatureHelp":
			say(`{"jsonrpc":"2.0","id":%d,"error":{"code":1,"message":"no call here"}}`, m.ID)
		case "initialize":
			say(`{"jsonrpc":"2.0","method":"window/logMessage","params":{}}`)
			say(`{"jsonrpc":"2.0","id":%d,"result":{}}`, m.ID)
		}
	}
}

func server(t *testing.T) (*Server, context.Context) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	s, err := Start(self, t.TempDir(), append(os.Environ(), roleEnv+"=gopls"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); s.Stop() })
	if err := s.Open(ctx); err != nil {
		t.Fatal(err)
	}
	return s, ctx
}

func TestAServerSeesTheNewestText(t *testing.T) {
	s, ctx := server(t)
	for _, text := range []string{"one", "two ä", "three"} {
		if err := s.Set("main.go", text); err != nil {
			t.Fatal(err)
		}
		items, err := s.Complete(ctx, "main.go", Position{Line: 4, Character: 7})
		if err != nil || len(items) != 1 {
			t.Fatalf("%v, %v", items, err)
		}
		want := text
		if text != "one" {
			want = "changed to " + text
		}
		if i := items[0]; i.Label != want || i.Kind.String() != "function" || i.Edit.Text != "x" || i.Edit.Range.Start != (Position{4, 7}) {
			t.Errorf("%+v, want the label %q", i, want)
		}
	}
}

func TestWhatAServerDoesNotKnow(t *testing.T) {
	s, ctx := server(t)
	if text, err := s.Hover(ctx, "main.go", Position{}); text != "" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := s.Signature(ctx, "main.go", Position{}); err == nil || !strings.Contains(err.Error(), "no call here") {
		t.Errorf("got %v", err)
	}
}

func TestAServerThatEndsIsAnError(t *testing.T) {
	s, ctx := server(t)
	if err := s.Set("bad.go", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Complete(ctx, "main.go", Position{}); err == nil {
		t.Error("no error")
	}
}

func TestAQuestionIsGivenUp(t *testing.T) {
	s, _ := server(t)
	over, stop := context.WithCancel(t.Context())
	stop()
	if err := s.request(over, "never/answered", nil, nil); err == nil {
		t.Error("no error")
	}
	if _, err := s.Hover(t.Context(), "main.go", Position{}); err != nil {
		t.Errorf("the next question: %v", err)
	}
}

func TestMessagesThatAreNone(t *testing.T) {
	for _, text := range []string{"", "Content-Length: x\r\n\r\n", "Content-Length: -1\r\n\r\n", "Content-Length: 99999999999\r\n\r\n", "Content-Length: 9\r\n\r\n{}", "Content-Length: 2\r\n\r\n[]"} {
		if a, err := readAnswer(bufio.NewReader(strings.NewReader(text))); err == nil {
			t.Errorf("%q is read as %+v", text, a)
		}
	}
}

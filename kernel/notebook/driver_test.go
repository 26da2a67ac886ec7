// Tests of driver.py with a real Python.

package notebook

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// streams is the part of driver.py that makes a stream's text out of its messages; it
// needs nothing but Python.
func streams(t *testing.T) string {
	t.Helper()
	_, from, found := strings.Cut(driver, "def rewind(")
	part, _, ended := strings.Cut(from, "class Client(")
	if !found || !ended {
		t.Fatal("driver.py has no rewind before its Client")
	}
	return "def rewind(" + part
}

// python runs a program, which fails where something is wrong, and is stopped after a
// minute: what takes the square of its input takes longer.
func python(t *testing.T, program string) {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	if out, err := exec.CommandContext(ctx, path, "-c", program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// However a text is cut into messages, what is kept of it is what a terminal shows that
// clears a line when it begins again: the twin reads character by character. Where no
// two carriage returns and no \r\n meet it is also nbclient's own rule
// (nbclient 0.11.0, _RGX_CARRIAGERETURN), on the whole text.
func TestAStreamIsWhatATerminalShows(t *testing.T) {
	python(t, streams(t)+`
import random, re
from types import SimpleNamespace

def twin(text):
    done, line, returns = "", "", 0
    for c in text:
        if c == "\r":
            returns += 1
        elif c == "\n":
            done, line, returns = done + line + "\n", "", 0
        else:
            line, returns = ("" if returns else line) + c, 0
    return done + line + "\r" * returns

rng, same = random.Random(23), 0
for n in range(20000):
    text = "".join(rng.choice(["a", "b", "\r", "\n", "\r\n", "\b", "\x1b[1m", "é"]) for _ in range(rng.randrange(12)))
    want = twin(text)
    assert rewind(text) == want, (text, rewind(text), want)
    if "\r\r" not in text and "\r\n" not in text:
        same += 1
        assert re.sub(r".*\r(?=[^\n])", "", text) == want, text
    pieces, rest = [], text
    while rest:
        k = rng.randrange(len(rest) + 1)
        pieces.append(rest[:k])
        rest = rest[k:]
    s = Stream(SimpleNamespace(text=pieces.pop(0) if pieces else ""))
    s.limit = rng.randrange(4)
    for p in pieces:
        s.add(p)
        if rng.random() < 0.3:
            s.settle()
        if rng.random() < 0.3:
            s.limit = rng.randrange(8)
    s.settle()
    assert s.out.text == want, (text, pieces, s.out.text, want)
assert same > 2000, same
`)
}

// A long line, many lines, many updates of one line: time in proportion to their length,
// and memory to what is left of them.
func TestAStreamOfAnyLengthIsReadInTime(t *testing.T) {
	python(t, streams(t)+`
from types import SimpleNamespace

def stream(pieces):
    s, most = Stream(SimpleNamespace(text="")), 0
    for p in pieces:
        s.add(p)
        most = max(most, s.size)
    s.settle()
    return s.out.text, most

assert rewind("a" * 10**6) == "a" * 10**6
assert rewind("\r" + "a" * 10**6 + "\rb") == "b"
assert rewind("a\r" * 10**6 + "b\n") == "b\n"
assert rewind("a" * 10**6 + "\r" * 10**6) == "a" * 10**6 + "\r" * 10**6
assert stream("a" for _ in range(10**6))[0] == "a" * 10**6
assert stream("line %d\n" % i for i in range(10**5))[0].count("\n") == 10**5
assert stream("line %d\r\n" % i for i in range(10**5))[0].count("\r") == 0
text, most = stream("\rprogress %d" % i for i in range(10**6))
assert text == "progress 999999" and most < 10**5, (text, most)
text, most = stream(p for i in range(10**5) for p in ("\r\x1b[2K", "\x1b[32m%d %%\x1b[0m" % i, "\b"))
assert text == "\x1b[2K\x1b[32m99999 %\x1b[0m\b" and most < 10**5, (text, most)
`)
}

// Tests of text.go.

package files

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestAMarkBeforeTextIsPassedOver(t *testing.T) {
	for given, want := range map[string]string{
		"": "", "a": "a", "ab": "ab", "abc\n": "abc\n", "\xef\xbb\xbf": "", "\xef\xbb\xbfab": "ab", "a\xef\xbb\xbf": "a\xef\xbb\xbf",
		"\xef\xbb\xbf\xef\xbb\xbfa": "\xef\xbb\xbfa", "\xef\xbb": "\xef\xbb", "\x00\x00\x01": "\x00\x00\x01",
	} {
		r, err := NewTextReader(iotest.OneByteReader(strings.NewReader(given)))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(r); err != nil || string(b) != want {
			t.Errorf("%q: %q, %v", given, b, err)
		}
	}
}

func TestWideTextIsRefused(t *testing.T) {
	for _, given := range []string{"\xff\xfea\x00", "\xfe\xff\x00a", "a\x00b\x00", "\x00a\x00b", "\xff\xfe"} {
		if _, err := NewTextReader(strings.NewReader(given)); !errors.Is(err, ErrEncoding) || !strings.Contains(err.Error(), "UTF-16") {
			t.Errorf("%q: %v", given, err)
		}
	}
	broken := errors.New("broken")
	if _, err := NewTextReader(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Error(err)
	}
}

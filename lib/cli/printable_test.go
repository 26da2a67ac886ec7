// Tests of printable.go.

package cli

import "testing"

func TestControlCharactersAreEscapedAndNothingElse(t *testing.T) {
	for s, want := range map[string]string{
		"plain näme\t1\nline": "plain näme\t1\nline",
		"a\x1b[2Jb":           `a\x1b[2Jb`,
		"\r\x00\u009b":        `\r\x00\u009b`,
		"\a\x7f":              `\a\u007f`,
		"bad\xff\xfe.npy":     `bad\xff\xfe.npy`,
		"a\u202eb":            `a\u202eb`,
		"\ufffd":              "\ufffd",
	} {
		if got := Printable(s); got != want {
			t.Errorf("%q: found %q, expected %q", s, got, want)
		}
	}
}

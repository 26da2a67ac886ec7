// Tests of json.go.

package files

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type setting struct {
	Users int            `json:"users"`
	More  map[string]int `json:"more"`
	List  []setting      `json:"list"`
}

func TestJSONIsOneValueWithEveryNameOnceAndKnown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.json")
	read := func(text string) (s setting, err error) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return s, ReadJSON(path, 1<<20, &s)
	}
	s, err := read("{\"users\": 3,\n \"more\": {\"a\": 1, \"A\": 2}, \"list\": [{\"users\": 1}, {\"users\": 2}]}\n\n")
	if err != nil || s.Users != 3 || s.More["A"] != 2 || s.List[1].Users != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
	for text, want := range map[string]string{
		"":                              "it is empty",
		" \n":                           "it is empty",
		"{\"users\": 3":                 "does not end",
		"{\"users\": 3,\n\"users\": 4}": `line 2: "users" is given twice`,
		"{\"list\": [{},\n{\"more\": {\"b\": 1,\n\"b\": 1}}]}": `line 3: "b" is given twice`,
		"{\"user\": 3}": `line 1: unknown field "user"`,
		"{\"more\": {\"user\": 1},\n\"user\": 3}":       `x.json: unknown field "user"`,
		"{\"users\": 3,\n\"list\": [{\n\"u\\ts\": 3}]}": `line 3: unknown field "u\ts"`,
		"{\"users\": 3,\n\"more\": {\"\xe9\": 1}}":      "line 2: the text is not UTF-8",
		"{\"users\": 3}\n{}":                            "line 2: there is text after",
		"{\"users\": 3}\n null":                         "line 2: there is text after",
		"{\n\"users\": \"three\"}":                      "line 2: users is text, and a whole number is expected",
		"{\"users\": 1.5}":                              "users is 1.5, and a whole number is expected",
		"{\"more\": []}":                                "more is a list, and an object is expected",
		"{\"list\": true}":                              "list is true or false, and a list is expected",
		"[]":                                            "the value is a list, and an object is expected",
		"{\n\n\"users\": 03}":                           "line 3: invalid character",
		strings.Repeat("[", 20_000):                     "exceeded max depth",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%.40q: %v, want %q and the path", text, err, want)
		}
	}
}

func TestJSONMayBeginWithAMarkButNotInUTF16(t *testing.T) {
	var to struct{ A int }
	if err := DecodeStrict([]byte("\xef\xbb\xbf{\"A\": 3}\r\n"), &to); err != nil || to.A != 3 {
		t.Errorf("%+v, %v", to, err)
	}
	if err := DecodeStrict([]byte("\xff\xfe{\x00}\x00"), &to); !errors.Is(err, ErrEncoding) {
		t.Error(err)
	}
}

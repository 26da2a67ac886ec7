// Tests of claims.go.

package notebook

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestClaimsAreReadFromStreamsAndFromTheTextOfBundles(t *testing.T) {
	nb := &Notebook{Cells: []Cell{
		{Kind: Markdown, Source: "claim holds: not an output — 1"},
		{Kind: Code, Outputs: []*Output{
			{Type: StreamOutput, Name: "stdout", Text: "before\nclaim holds: a — b — 3 < 4\r\nclaim FAILS: c — 1\nclaim: no\n"},
			{Type: DisplayOutput, Data: Object{"text/plain": "claim holds: d", "text/html": "claim holds: not twice — 1"}},
		}},
	}}
	want := []Claim{{2, true, "a — b", "3 < 4"}, {2, false, "c", "1"}, {2, true, "d", ""}}
	got := nb.Claims()
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if got[0].String() != "claim holds: a — b — 3 < 4" || got[2].String() != "claim holds: d" {
		t.Error(got[0], got[2])
	}
}

// claimList makes claims of "a+ b-".
func claimList(s string) []Claim {
	var list []Claim
	for i, f := range strings.Fields(s) {
		list = append(list, Claim{Cell: 5, Holds: f[1] == '+', Statement: f[:1], Evidence: fmt.Sprint(i)})
	}
	return list
}

func TestClaimsAreComparedByStatementOrderAndVerdict(t *testing.T) {
	for _, c := range []struct{ committed, now, want string }{
		{"a+ b-", "a+ b-", ""},
		{"a+ b+", "a+ b-", "b+/b-"},
		{"a+ b+ c+", "a+ c+", "b+/"},
		{"a+ c+", "a+ b- c+", "/b-"},
		{"a+ b+", "b+ a+", "a+/ /a+"},
		{"", "a+", "/a+"},
		{"a+", "b+", "a+/ /b+"},
	} {
		short := func(c *Claim) string {
			if c == nil {
				return ""
			}
			return c.Statement + map[bool]string{true: "+", false: "-"}[c.Holds]
		}
		var got []string
		for _, d := range CompareClaims(claimList(c.committed), claimList(c.now)) {
			got = append(got, short(d.Committed)+"/"+short(d.Now))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q and %q: %q, want %q", c.committed, c.now, got, c.want)
		}
	}
}

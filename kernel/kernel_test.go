package kernel

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// result is what one command line did.
type result struct {
	code        int
	out, stderr string
}

// lethe runs a command line in this process, away from the user's folders.
func lethe(t *testing.T, args ...string) result {
	return letheWith(t, context.Background(), "", args...)
}

func letheWith(t *testing.T, ctx context.Context, stdin string, args ...string) result {
	t.Helper()
	var out, stderr bytes.Buffer
	code := Run(ctx, args, strings.NewReader(stdin), &out, &stderr)
	return result{code, out.String(), stderr.String()}
}

// fails checks that a command line ends with the code, prints nothing on
// standard output, and says every one of the words on standard error.
func fails(t *testing.T, r result, code int, words ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d; stderr: %s", r.code, code, r.stderr)
	}
	if r.out != "" {
		t.Errorf("standard output is not empty: %q", r.out)
	}
	for _, w := range words {
		if !strings.Contains(r.stderr, w) {
			t.Errorf("standard error %q does not say %q", r.stderr, w)
		}
	}
}

// decoded checks that standard output is exactly one JSON value and nothing is
// said on standard error.
func decoded[T any](t *testing.T, r result) T {
	t.Helper()
	var v T
	if r.code != exitOK || r.stderr != "" {
		t.Fatalf("exit code %d, stderr %q", r.code, r.stderr)
	}
	dec := json.NewDecoder(strings.NewReader(r.out))
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("no JSON: %v in %q", err, r.out)
	}
	if dec.More() {
		t.Fatalf("more than one JSON value: %q", r.out)
	}
	return v
}

// commands lists all commands that people see.
func commands(c *cobra.Command) []*cobra.Command {
	out := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			out = append(out, commands(sub)...)
		}
	}
	return out
}

func TestEveryCommandHasHelpWithExamplesThatParse(t *testing.T) {
	for _, c := range commands(newRoot()) {
		t.Run(c.CommandPath(), func(t *testing.T) {
			words := strings.Fields(c.CommandPath())[1:]
			r := lethe(t, append(words, "--help")...)
			if r.code != exitOK || r.stderr != "" || !strings.Contains(r.out, "Usage:") {
				t.Errorf("help: exit code %d, stderr %q", r.code, r.stderr)
			}
			if c.Short == "" || c.Example == "" {
				t.Errorf("no short description or no example")
			}
			for line := range strings.Lines(c.Example) {
				_, line, found := strings.Cut(line, "lethe ")
				if !found {
					t.Errorf("example without lethe: %q", line)
				}
				line, _, _ = strings.Cut(line, "  ")
				root := newRoot()
				sub, rest, err := root.Find(strings.Fields(line))
				if err != nil {
					t.Errorf("example %q: %v", line, err)
					continue
				}
				if err := sub.ParseFlags(rest); err != nil {
					t.Errorf("example %q: %v", line, err)
				}
				if err := sub.ValidateArgs(sub.Flags().Args()); err != nil {
					t.Errorf("example %q: %v", line, err)
				}
			}
		})
	}
}

func TestTyposAreUsageErrorsWithASuggestion(t *testing.T) {
	for _, c := range []struct {
		args  string
		words []string
	}{
		{"scroe", []string{`"scroe"`, "did you mean score?", "try: lethe --help"}},
		{"verify rulr", []string{"did you mean ruler?", "try: lethe verify --help"}},
		{"data lst", []string{"did you mean", "list?"}},
		{"runs prun", []string{"did you mean prune?"}},
		{"list metod", []string{"did you mean methods?"}},
		{"zzzzzz", []string{"there are", "score", "verify"}},
		{"score --membrs x", []string{"--membrs", "did you mean --members?", "try: lethe score --help"}},
		{"score --x", []string{"--x", "try: lethe score --help"}},
		{"score", []string{"members", "nonmembers", "try: lethe score --help"}},
		{"score --members", []string{"--members"}},
		{"score --members a --nonmembers b c", []string{`"c"`}},
		{"data get adlt", []string{"adlt", "did you mean adult?"}},
		{"data get", []string{"at least 1"}},
		{"table ruler 1 --scale quik", []string{"--scale quik", "quick, standard, paper"}},
		{"table ruler 1 --format yaml", []string{"--format yaml", "text, md, json"}},
		{"table ruler 99", []string{`"99"`, "table1"}},
		{"figure ruler 99", []string{`"99"`, "there are figure5, figure6, figure7"}},
		{"table ruler 1 --out nowhere/x.md", []string{"--out", "nowhere"}},
		{"table ruler 1 --out main.go/sub", []string{"--out", "main.go"}},
		{"table ruler 1 3 --out x.md", []string{"--out", "folder"}},
		{"table ruler 1 --workers -1", []string{"--workers -1"}},
		{"table nobody 1", []string{`"nobody"`, "ruler"}},
		{"table lenses --scale huge", []string{"--scale huge", "quick, standard, paper"}},
		{"table lenses 1", []string{`"1"`}},
		{"bench --rounds 0", []string{"--rounds 0"}},
		{"bench x", []string{`"x"`}},
	} {
		t.Run(c.args, func(t *testing.T) { fails(t, lethe(t, strings.Fields(c.args)...), exitUsage, c.words...) })
	}
}

func TestGroupsAloneShowTheirHelp(t *testing.T) {
	for _, args := range [][]string{nil, {"data"}, {"verify"}, {"table"}} {
		if r := lethe(t, args...); r.code != exitOK || !strings.Contains(r.out, "Usage:") || r.stderr != "" {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

func TestCompletionKnowsNamesAndFlagValues(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"__complete data get ad", "adult"},
		{"__complete table ruler 1 --scale ", "quick"},
		{"__complete figure ruler ", "5"},
		{"completion bash", "__start_lethe"},
	} {
		args := strings.Split(c.args, " ")
		if r := lethe(t, args...); r.code != exitOK || !strings.Contains(r.out, c.want) {
			t.Errorf("%s: exit code %d, %q not in %.200q", c.args, r.code, c.want, r.out)
		}
	}
}

func TestListShowsEveryKindAsTextAndJSON(t *testing.T) {
	all := decoded[map[string][]map[string]any](t, lethe(t, "list", "--json"))
	for kind, one := range map[string]string{
		"methods": "scrub", "attacks": "modified-entropy", "metrics": "sde/spread-only", "lenses": "against the oracle",
		"datasets": "breast_cancer", "models": "tabular-mlp", "recipes": "ruler/table1",
	} {
		found := false
		for _, e := range all[kind] {
			found = found || e["name"] == one
		}
		if !found {
			t.Errorf("%s: no %s", kind, one)
		}
		if kind == "methods" {
			for _, e := range all[kind] {
				if e["about"] == nil || e["from"] == nil || e["sees"] == nil {
					t.Errorf("%v: what it does, its paper or what it sees is missing", e)
				}
			}
		}
		if r := lethe(t, "list", kind); r.code != exitOK || !strings.Contains(r.out, one) {
			t.Errorf("list %s: exit code %d, no %s", kind, r.code, one)
		}
		if only := decoded[map[string]any](t, lethe(t, "list", kind, "--json")); len(only) != 1 || only[kind] == nil {
			t.Errorf("list %s --json has other kinds", kind)
		}
	}
}

func TestDataVerifyTellsMissingFromDamaged(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("LETHE_DATA", dir)
	if r := lethe(t, "data", "verify"); r.code != exitOK || !strings.Contains(r.out, "missing") || !strings.Contains(r.out, "built in") {
		t.Errorf("nothing there: %+v", r)
	}
	if r := lethe(t, "data", "verify", "adult"); r.code != exitFailure || !strings.Contains(r.stderr, "adult") {
		t.Errorf("adult asked for and missing: %+v", r)
	}
	path := filepath.Join(dir, "breast_cancer", "wdbc.data")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("not the data"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := lethe(t, "data", "verify", "--json")
	var files []fileStatusJSON
	if err := json.Unmarshal([]byte(r.out), &files); err != nil || r.code != exitFailure || !strings.Contains(r.stderr, "breast_cancer") {
		t.Fatalf("%v, %+v", err, r)
	}
	for _, f := range files {
		if f.DataSet == "breast_cancer" && (f.State != "damaged" || !strings.Contains(f.Problem, path)) {
			t.Errorf("%+v", f)
		}
	}
}

func TestDataGetNeedsNothingForGeneratedSets(t *testing.T) {
	t.Setenv("LETHE_DATA", t.TempDir())
	if r := lethe(t, "data", "get", "two_moons"); r.code != exitOK || !strings.Contains(r.out, "generated") {
		t.Errorf("%+v", r)
	}
}

func TestDataListSaysWhatIsHere(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("LETHE_DATA", dir)
	if err := os.MkdirAll(filepath.Join(dir, "adult"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"adult.data", "adult.test"} {
		if err := os.WriteFile(filepath.Join(dir, "adult", f), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]string{}
	for _, d := range decoded[[]dataSetJSON](t, lethe(t, "data", "list", "--json")) {
		got[d.Name] = d.State
	}
	for name, want := range map[string]string{"adult": "here", "bank_marketing": "missing", "breast_cancer": "built in", "two_moons": "generated"} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}

func TestDataListCarriesLicenceSizeAndHashes(t *testing.T) {
	byHand := []string{"cifar10_first4000", "cifar10_jpeg", "olivetti_idx", "tabula_muris_sample"}
	noSHA256 := []string{"pbmc33k", "tabula_muris"} // which nobody to be trusted states
	for _, d := range decoded[[]dataSetJSON](t, lethe(t, "data", "list", "--json")) {
		if d.Licence == "" || d.Rows == 0 || d.ClassCount < 2 && d.Name != "pbmc33k" { // nobody publishes labels of that
			t.Errorf("%+v", d)
		}
		for _, f := range d.Files {
			if unseen := f.Size == 0 && f.SHA256 == ""; unseen && slices.Contains(noSHA256, d.Name) {
				continue
			}
			if len(f.SHA256) != 64 || f.Size == 0 && d.Name != "olivetti" || (len(f.URLs) == 0 && !f.Optional) != slices.Contains(byHand, d.Name) {
				t.Errorf("%s: %+v", d.Name, f)
			}
		}
	}
}

func TestImageSetsAreListedFetchedAndVerifiedLikeTables(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("LETHE_DATA", dir)
	shapes := map[string]string{}
	for _, d := range decoded[[]dataSetJSON](t, lethe(t, "data", "list", "--json")) {
		if _, twice := shapes[d.Name]; twice {
			t.Errorf("%s is listed twice", d.Name)
		}
		shapes[d.Name] = fmt.Sprint(d.Shape, d.TestRows)
	}
	if shapes["cifar10"] != "[3 32 32] 10000" || shapes["adult"] != "[] 0" {
		t.Errorf("shapes %v", shapes)
	}
	if r := lethe(t, "data", "list"); !strings.Contains(r.out, "3 x 64 x 64") || !strings.Contains(r.out, "by hand") {
		t.Errorf("%+v", r)
	}
	if r := lethe(t, "data", "get", "glyphs"); r.code != exitOK || !strings.Contains(r.out, "generated") {
		t.Errorf("%+v", r)
	}
	if r := lethe(t, "data", "get", "cifar10_jpeg"); r.code != exitFailure || !strings.Contains(r.stderr, "no address is known") {
		t.Errorf("%+v", r)
	}
	if r := lethe(t, "data", "get", "cifar_10"); r.code == exitOK || !strings.Contains(r.stderr, "did you mean cifar10") {
		t.Errorf("%+v", r)
	}
	if r := lethe(t, "data", "verify", "mnist"); r.code != exitFailure || !strings.Contains(r.out, "missing") {
		t.Errorf("%+v", r)
	}
}

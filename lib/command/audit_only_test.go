// Tests of audit_only.go.

package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/cli/clitest"
)

// singleCalls are correct arguments for every measure on single arrays.
func singleCalls(t *testing.T) map[string][]string {
	v, w, m := vectorFile(t, 0.1, 0.2, 0.9), vectorFile(t, 0.5, 0.3, 1, 2), matrixFile(t, embeddings(1, 20))
	return map[string][]string{
		"scores": {"--members", v, "--nonmembers", w},
		"losses": {"--members", v, "--nonmembers", w},
		"features": {"--members", matrixFile(t, embeddings(2, 20)), "--nonmembers", matrixFile(t, embeddings(3, 20)), "--protocol", "P-C", "--protocol", "P-D",
			"--seed", "3"},
		"shadows": shadowArrays(t, 1)[3:],
		"ruler":   {"--unlearned", m, "--forget", rowsFile(t, 0, 1, 2, 3), "--retain", rowsFile(t, span(4, 20)...), "--zero-rows"},
		"sde":     {"--target", m, "--in", matrixFile(t, embeddings(5, 20)), "--out", matrixFile(t, embeddings(4, 20)), "--shuffle", "--seed", "2"},
	}
}

// A word that is none of an old group's is answered by those that there are.
func TestAWrongOldWordIsAnsweredByTheRightOnes(t *testing.T) {
	fails(t, lethe(t, "attack", "nosuch"), cli.ExitUsage, "there are losses, features, shadows")
	fails(t, lethe(t, "verify", "nosuch"), cli.ExitUsage, "ruler, sde")
}

// The old words say where they went, on standard error, and answer the same on standard output.
func TestOldWordsAreTheNewOnes(t *testing.T) {
	calls := singleCalls(t)
	for _, s := range newSingles() {
		for _, format := range [][]string{nil, {"--json"}} {
			args := append(append([]string{}, calls[s.name]...), format...)
			now := lethe(t, append([]string{"audit", "--only", s.name}, args...)...)
			old := lethe(t, append(strings.Fields(s.before), args...)...)
			if now.Code != cli.ExitOK || now.Stderr != "" || now.Out == "" || old.Out != now.Out || old.Code != now.Code {
				t.Errorf("%s %v: %+v, before %+v", s.name, format, now, old)
			}
			note, more, _ := strings.Cut(old.Stderr, "\n")
			if !strings.Contains(note, `"lethe audit --only `+s.name+`"`) || more != "" {
				t.Errorf("%s does not name the new words in one line: %q", s.before, old.Stderr)
			}
			args[1] = filepath.Join(t.TempDir(), "missing.npy")
			now, old = lethe(t, append([]string{"audit", "--only", s.name}, args...)...), lethe(t, append(strings.Fields(s.before), args...)...)
			if _, failed, _ := strings.Cut(old.Stderr, "\n"); now.Code != cli.ExitFailure || old.Code != now.Code || now.Stderr == "" || failed != now.Stderr {
				t.Errorf("%s of a missing file: %+v, before %+v", s.name, now, old)
			}
		}
	}
	for _, text := range []string{lethe(t, "--help").Out, lethe(t, "audit", "--help").Out} {
		for _, word := range []string{"\n  score ", "\n  verify ", "\n  attack ", "--members string", "--truth"} {
			if strings.Contains(text, word) {
				t.Errorf("help has %q:\n%s", word, text)
			}
		}
	}
}

func TestAuditOfSomeLenses(t *testing.T) {
	dir := auditFolder(t, "original")
	var report struct {
		Verdicts []struct{ Lens string }
		Skipped  []struct{ Lens string }
	}
	r := lethe(t, "audit", dir, "--only", "loss,modified-entropy", "--json")
	check(t, json.Unmarshal([]byte(r.Out), &report))
	if r.Code != cli.ExitOK || strings.Contains(r.Out, "needs embedding.npy") || !strings.Contains(r.Out, "modified entropy") {
		t.Errorf("exit code %d, %s", r.Code, r.Out)
	}
	whole := lethe(t, "audit", dir, "--json")
	if len(whole.Out) <= len(r.Out) {
		t.Error("a report of two lenses is as long as that of all")
	}
	if _, err := os.Stat(filepath.Join(dir, "report", "report.html")); err != nil {
		t.Error(err)
	}
	// A lens's name with its spaces, as lists print it, is taken too.
	if r := lethe(t, "audit", dir, "--only", "modified entropy"); r.Code != cli.ExitOK {
		t.Errorf("%+v", r)
	}
}

func TestOnlySaysWhatDoesNotGoTogether(t *testing.T) {
	dir, v := auditFolder(t, "original"), vectorFile(t, 1, 2)
	for args, words := range map[string][]string{
		"--only scores --members V --nonmembers V --truth V":             {"--truth", "--only scores has no such flag", "--nonmembers"},
		"--only scores --members V":                                      {"nonmembers", "not set"},
		"--only losses --members V --nonmembers W --reference-members V": {"reference-nonmembers"},
		"--only ruler --unlearned V --forget V --retain V --cap -1":      {"--cap -1"},
		"--only loss --members V":                                        {"loss", "reads a folder", "audit FOLDER --only loss"},
		"--only sde --kit pytorch":                                       {"--kit", "leave out --only"},
		"--only nothing":                                                 {"--only nothing", "scores", "sde"},
		"--only scores,sde":                                              {"name a folder of arrays, or one of"},
		"DIR --only nothing":                                             {"--only nothing", "neighbours", "lira-offline"},
		"DIR --only neighbors":                                           {"did you mean neighbours?"},
		"--only feature":                                                 {"did you mean features?"},
		"DIR --only scores":                                              {"--only scores", "leave out the folder", "neighbours"},
		"DIR --members V":                                                {"--members", "single arrays", "no folder"},
		"DIR --only loss --members V":                                    {"--members", "single array"},
		"--only sde --bandwidth no --target V --in V --out V":            {"--bandwidth"},
	} {
		args = strings.NewReplacer("DIR", dir, "V", v, "W", vectorFile(t, 3)).Replace(args)
		fails(t, lethe(t, append([]string{"audit"}, strings.Fields(args)...)...), cli.ExitUsage, words...)
	}
}

func TestOnlyHasItsOwnHelp(t *testing.T) {
	for _, s := range newSingles() {
		r := lethe(t, "audit", "--only", s.name, "--help")
		for _, f := range s.flags() {
			if r.Code != cli.ExitOK || !strings.Contains(r.Out, "--"+f+" ") {
				t.Errorf("the help of --only %s has no --%s:\n%s", s.name, f, r.Out)
			}
		}
		if !strings.Contains(r.Out, "lethe audit --only "+s.name+" --") {
			t.Errorf("the help of --only %s does not say how it is called:\n%s", s.name, r.Out)
		}
	}
}

// A name of --only means one thing: no lens of a folder has the name of a measure on arrays.
func TestNamesOfOnlyAreDistinct(t *testing.T) {
	names := map[string]bool{}
	for _, s := range newSingles() {
		names[s.name] = true
	}
	for _, l := range audit.ArrayLenses() {
		if name := lensFlag(l); names[name] {
			t.Errorf("%s is two things", name)
		} else {
			names[name] = true
		}
	}
}

func TestTheWholeHelpHasEveryFlag(t *testing.T) {
	short, whole := lethe(t, "try", "--help").Out, lethe(t, "try", "--help-all").Out
	if strings.Contains(short, "--separator") || !strings.Contains(short, "--help-all") || !strings.Contains(whole, "--separator") {
		t.Errorf("short help\n%s\nwhole help\n%s", short, whole)
	}
}

// A name means one thing in its list.
func TestNamesOfListsAreDistinct(t *testing.T) {
	for kind, key := range map[string]string{"lenses": "lenses", "audit-lenses": "judgements"} {
		all := clitest.Decoded[map[string][]listEntry](t, lethe(t, "list", kind, "--json"))[key]
		seen := map[string]bool{}
		for _, e := range all {
			if seen[e.Name] {
				t.Errorf("lethe list %s has %s twice", kind, e.Name)
			}
			seen[e.Name] = true
		}
		if !seen["rmia"] || len(all) < 10 {
			t.Errorf("lethe list %s: %v", kind, all)
		}
	}
}

// What --only takes for a folder is what the lists name, and the others are refused with a reason.
func TestOnlyTakesTheNamesOfLists(t *testing.T) {
	dir := auditFolder(t, "original")
	for _, l := range audit.AllLenses() {
		r := lethe(t, "audit", dir, "--only", l.Name(), "--json")
		if wanted := slices.Contains(lensFlags(), lensFlag(l)); wanted == (r.Code == cli.ExitUsage) || !wanted && !strings.Contains(r.Stderr, "needs a model and its data") {
			t.Errorf("--only %q: %+v", l.Name(), r)
		}
	}
	one, other := lethe(t, "audit", dir, "--only", "modified-entropy,loss,loss"), lethe(t, "audit", dir, "--only", "loss,modified entropy")
	if one.Code != cli.ExitOK || one.Out != other.Out {
		t.Errorf("order and repetition change the report: %+v, %+v", one, other)
	}
}

func TestOldWordsAreNoLongerOffered(t *testing.T) {
	r := lethe(t, "__complete", "")
	for _, word := range []string{"score", "verify", "attack"} {
		if strings.Contains(r.Out, word+"\t") || !strings.Contains(r.Out, "audit\t") {
			t.Errorf("completion offers %s:\n%s", word, r.Out)
		}
	}
}

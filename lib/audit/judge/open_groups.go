// Loading the groups of records, and checking them against the sets.

package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit"
)

// groupArray is the name of the array of groups.
const groupArray = "group"

// missingGroups are texts that stand for no value in files that programs write.
var missingGroups = []string{"", "nan", "NaN", "None", "<NA>"}

// loadGroups reads the group of every record, numbers or text, and numbers the groups.
func (a *loader) loadGroups() {
	if len(a.Group) == 0 {
		if a.GroupUnit != "" || a.GroupsMayMix {
			a.problems.add("audit.json", "group_unit and groups_may_mix say something of groups, and there are none: group.npy, a group per record")
		}
		return
	}
	numbers, groups, fine := map[string]int{}, []int(nil), true
	for _, file := range a.Group {
		info, ok := a.infos[file]
		if !ok || !isVector(info) || info.Shape[0] == 0 {
			return // loadHeaders has reported it
		}
		l, err := npy.ReadLabels(a.path(file))
		if err != nil {
			a.problems.add(file, "%s", strings.ReplaceAll(a.textWithoutPath(file, err), "a label is", "a group is"))
			return
		}
		missing := occurrences{}
		for i, code := range l.Codes {
			name := l.Names[code]
			if isMissing(name, info) {
				missing.add(fmt.Sprintf("element %d is %q", i, name))
			}
			k, known := numbers[name]
			if !known {
				k = len(numbers)
				numbers[name] = k
			}
			groups = append(groups, k)
		}
		if missing.n > 0 {
			a.problems.add(file, "%s%s: a record without a group needs one of its own, a number of at least 0 or a text", missing.first, missing.moreText())
		}
		fine = fine && missing.n == 0
	}
	if !fine || len(groups) != a.e.Records {
		return
	}
	a.e.Groups, a.e.GroupUnit, a.e.groupNames = groups, a.GroupUnit, namesByNumber(numbers)
	a.checkMixedGroups()
}

// isMissing reports whether a group stands for no value: a negative number, as pandas codes it, or a
// text of missingGroups.
func isMissing(name string, info npy.Info) bool {
	if kind := info.Kind(); kind == 'U' || kind == 'S' {
		return slices.Contains(missingGroups, name)
	}
	return strings.HasPrefix(name, "-")
}

func namesByNumber(numbers map[string]int) []string {
	out := make([]string, len(numbers))
	for name, k := range numbers {
		out[k] = name
	}
	return out
}

// checkMixedGroups refuses groups that have records to be forgotten and retained or held-out ones,
// unless the config accepts them. A record that is forgotten may be known to a model by the retained
// records of its group, so that a model that never had it lies elsewhere than at the null.
func (a *loader) checkMixedGroups() {
	for _, s := range []audit.Set{Retain, HeldOut} {
		mixed := a.e.mixedGroups(s)
		if len(mixed) == 0 || a.GroupsMayMix {
			continue
		}
		var names []string
		for _, g := range mixed[:min(len(mixed), maxFaults)] {
			names = append(names, fmt.Sprintf("%q", a.e.groupNames[g]))
		}
		of, has := "group "+names[0], "has"
		if len(mixed) > 1 {
			of, has = "groups "+strings.Join(names, ", ")+more(len(mixed)-len(names)+1), "have"
		}
		a.problems.add(strings.Join(a.Group, " + "), "%s with records to be forgotten %s %s records too: forget whole groups, or say "+
			`"groups_may_mix": true in audit.json`, of, has, s.Adjective())
	}
}

// more is empty for one occurrence, and otherwise " (and N more)".
func more(n int) string { return (&occurrences{n: n}).moreText() }

// mixedGroups returns the groups with records to be forgotten and records of another set, in the
// order of their numbers.
func (e *Evidence) mixedGroups(s audit.Set) []int {
	in := map[int]bool{}
	for _, g := range e.Clusters(e.Forget) {
		in[g] = true
	}
	var out []int
	for _, g := range e.Clusters(e.Rows(s)) {
		if in[g] {
			out = append(out, g)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// warnGroups notes what is odd about groups, and what cannot be computed with them.
func (e *Evidence) warnGroups() {
	if e.Groups == nil {
		return
	}
	if e.Clusters(rowsOf(e.Records)).Trivial() {
		e.warn("Every record is a group of its own: records are taken as independent, as without group.npy.")
	}
	if one, other, found := datasets.SpeltAlike(e.groupNames); found {
		e.warn("%q and %q are two groups of group.npy, which differ in capitals or spaces alone: if they are one, intervals are too narrow.", one, other)
	}
	for _, s := range []audit.Set{Forget, Retain, HeldOut} {
		if rows := e.Rows(s); len(rows) > 1 && e.CountGroups(rows) == 1 {
			e.warn("The %d %s records are of %s: nothing shows how much %s differ, and no interval over %s is possible.",
				len(rows), s.Adjective(), e.Unit(1), e.Units(), e.Units())
		}
	}
	if n := len(e.mixedGroups(Retain)); n > 0 {
		e.warn("%s with forgotten records have retained ones too. A model retrained without the forgotten records knows these %s nevertheless, so that it "+
			"need not lie at the null of a lens: compare with retrained models.", e.Unit(n), e.Units())
	}
	if n := len(e.mixedGroups(HeldOut)); n > 0 {
		e.warn("%s with forgotten records have held-out ones too; intervals of the attacks on outputs have the covariance of the two sides.", e.Unit(n))
	}
}

// rowsOf returns 0 ... n-1.
func rowsOf(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

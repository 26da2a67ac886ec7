// The cells that ran since the kernel started, and what follows from them for the next.

package relay

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// past holds what the cells that ran have declared, used and changed.
type past struct {
	ran      []*ranCell
	scope    scope           // what GoNB keeps
	notebook func() []string // the code cells of the saved notebook; nil where there is none

	toldOfLostValues bool
}

// ranCell is a cell that ran.
type ranCell struct {
	count   int
	id      string // Jupyter's, "" where it has none
	request *message
	outline outline
	kept    bool     // GoNB keeps its declarations: it compiled
	stale   bool     // something that it uses has changed since
	lost    []string // top-level variables that it has changed while it ran
}

// add notes that a cell has ended. It returns the names whose declarations the cell has
// changed.
func (p *past) add(c *cell) (changed []string) {
	ran := &ranCell{count: c.count, id: c.cellID(), request: c.request, outline: newOutline(c.code), kept: c.compiled()}
	if ran.kept {
		changed = p.scope.changed(ran.outline.declared)
		p.scope.learn(c.code)
		p.ran = slices.DeleteFunc(p.ran, func(old *ranCell) bool { return old.replacedBy(ran) })
		for _, old := range p.ran {
			old.lost = slices.DeleteFunc(old.lost, func(name string) bool { return declares(ran.outline.declared, name) })
		}
		ran.lost = p.variablesChanged(ran.outline.main)
	}
	p.ran = append(p.ran, ran)
	return changed
}

// replacedBy reports whether a newer run of the same cell makes this one obsolete.
func (r *ranCell) replacedBy(newer *ranCell) bool { return r.id != "" && r.id == newer.id }

// changed returns the names that others declare in another way.
func (s scope) changed(others []declaration) []string {
	var out []string
	for _, d := range others {
		for _, old := range s {
			if d.imported || old.imported || old.text == d.text {
				continue
			}
			for _, name := range d.names {
				if slices.Contains(old.names, name) {
					out = append(out, name)
				}
			}
		}
	}
	return out
}

// reached returns the declared names that code reaches, from what it uses, through all
// declarations.
func (s scope) reached(uses []string) map[string]bool {
	reached := map[string]bool{}
	waiting := slices.Clone(uses)
	for len(waiting) > 0 {
		name := waiting[0]
		waiting = waiting[1:]
		for _, d := range s {
			for _, declared := range d.names {
				if !reached[declared] && isNameOf(name, declared) {
					reached[declared] = true
					waiting = append(waiting, d.inside.uses...)
				}
			}
		}
	}
	return reached
}

// isNameOf reports whether a used name may stand for a declared one: f for f, .M for the
// method T.M.
func isNameOf(used, declared string) bool {
	return used == declared || strings.HasPrefix(used, ".") && strings.HasSuffix(declared, used)
}

// place says which cell it was: "cell [3]".
func (r *ranCell) place() string { return fmt.Sprintf("cell [%d]", r.count) }

// missingPattern matches what the compiler says of a name that is not declared.
var missingPattern = regexp.MustCompile(`^undefined: ([\pL_][\pL_0-9]*)$|undefined \(type \*?([\pL_][\pL_0-9]*) has no field or method ([\pL_][\pL_0-9]*)[,)]`)

// missingName returns the name that a compile error misses: f, or T.M for a method; "" if
// the error is another one.
func missingName(text string) string {
	at := missingPattern.FindStringSubmatch(text)
	switch {
	case at == nil:
		return ""
	case at[1] != "":
		return at[1]
	}
	return at[2] + "." + at[3]
}

// whyMissing explains why a name is not declared here; "" where that is not known.
func (p *past) whyMissing(name string) string {
	for _, r := range slices.Backward(p.ran) {
		switch {
		case !r.kept && declares(r.outline.declared, name):
			return fmt.Sprintf("%s is declared in %s, which failed; run it again", name, r.place())
		case slices.Contains(r.outline.main.own, name):
			return fmt.Sprintf("%s is declared under %%%% in %s, and is gone when that cell ends; make it a function or a top-level var", name, r.place())
		}
	}
	return ""
}

func declares(all []declaration, name string) bool {
	return slices.ContainsFunc(all, func(d declaration) bool { return slices.Contains(d.names, name) || d.imports(name) })
}

// imports reports whether a declaration is an import that is used by this name.
func (d declaration) imports(name string) bool {
	if !d.imported {
		return false
	}
	alias, path, ok := strings.Cut(d.text, " ")
	if ok && strings.HasPrefix(path, `"`) {
		return alias == name
	}
	path = strings.Trim(d.text, `"`)
	base := path[strings.LastIndex(path, "/")+1:]
	return base == name
}

// notRunYet is a name that a cell of the notebook declares which has not run.
type notRunYet struct {
	name string
	cell int // among the notebook's code cells, from 1
}

// notRun returns which of the names a cell of the notebook declares that has not run since
// the kernel started, and where code itself stands in the notebook; 0 if that is not known.
func (p *past) notRun(names []string, code string) (out []notRunYet, here int) {
	if p.notebook == nil {
		return nil, 0
	}
	cells := p.notebook()
	here = slices.Index(cells, code) + 1
	for _, name := range names {
		for i, other := range cells {
			if i+1 != here && declares(declarations(other), name) {
				out = append(out, notRunYet{name, i + 1})
				break
			}
		}
	}
	return out, here
}

// explainMissing adds to compile errors why a name is missing. Where cells have not run
// since the kernel started, one sentence says so, and the errors that may follow from it are
// left out.
func (p *past) explainMissing(errors []*compileError, code string) []*compileError {
	var unexplained []string
	for _, e := range errors {
		name := missingName(e.text)
		if name == "" || slices.ContainsFunc(errors, func(other *compileError) bool { return other.hint != "" && missingName(other.text) == name }) {
			continue
		}
		if e.hint = p.whyMissing(name); e.hint == "" && !slices.Contains(unexplained, name) {
			unexplained = append(unexplained, name)
		}
	}
	waiting, here := p.notRun(unexplained, code)
	if len(waiting) == 0 {
		return errors
	}
	known := func(e *compileError) bool {
		return slices.ContainsFunc(waiting, func(w notRunYet) bool { return w.name == missingName(e.text) })
	}
	others := slices.DeleteFunc(slices.Clone(errors), func(e *compileError) bool { return missingName(e.text) == "" || known(e) })
	return append([]*compileError{{text: runThemFirst(waiting, here)}}, others...)
}

// runThemFirst is the sentence about cells that have not run.
func runThemFirst(waiting []notRunYet, here int) string {
	which := "run the cells above first"
	if slices.ContainsFunc(waiting, func(w notRunYet) bool { return here > 0 && w.cell > here }) {
		which = "run these cells first"
	}
	waiting = slices.Clone(waiting)
	slices.SortStableFunc(waiting, func(a, b notRunYet) int { return cmp.Compare(a.cell, b.cell) })
	var parts []string
	for i := 0; i < len(waiting); {
		var names []string
		cell := waiting[i].cell
		for ; i < len(waiting) && waiting[i].cell == cell; i++ {
			names = append(names, waiting[i].name)
		}
		parts = append(parts, fmt.Sprintf("%s in code cell %d", andList(names), cell))
	}
	return fmt.Sprintf("%s: the notebook declares %s, and that has not run since the kernel started", which, andList(parts))
}

// andList joins words: "a, b and c".
func andList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// lostValue explains, once, that a variable that a cell uses has lost the value that an
// earlier cell gave it; "" where there is nothing to explain.
func (p *past) lostValue(code string) string {
	if p.toldOfLostValues {
		return ""
	}
	now := newOutline(code)
	reached := p.scope.reached(now.main.uses)
	for _, r := range slices.Backward(p.ran) {
		for _, name := range r.lost {
			if reached[name] && !declares(now.declared, name) {
				p.toldOfLostValues = true
				return fmt.Sprintf("%s has the value of its declaration here, not the one that %s gave it: each cell is a program of its own, "+
					"and GoNB keeps declarations, not values. Return the value from a function, or write it to a file.\n", name, r.place())
			}
		}
	}
	return ""
}

// variablesChanged returns the top-level variables that a main changes, itself or in the
// functions that it calls.
func (p *past) variablesChanged(main names) []string {
	changes := slices.Clone(main.changes)
	reached := p.scope.reached(main.uses)
	for _, d := range p.scope {
		if slices.ContainsFunc(d.names, func(n string) bool { return reached[n] }) {
			changes = append(changes, d.inside.changes...)
		}
	}
	return slices.DeleteFunc(changes, func(name string) bool { return !p.scope.hasVariable(name) })
}

func (s scope) hasVariable(name string) bool {
	return slices.ContainsFunc(s, func(d declaration) bool { return d.variable && slices.Contains(d.names, name) })
}

// markStale returns the cells that use a changed name and have not run since. A cell without
// an identifier, as of a console, is not there any more.
func (p *past) markStale(changed []string, newest int) []*ranCell {
	var out []*ranCell
	for _, r := range p.ran {
		if r.id == "" || r.count == newest || r.stale || !r.kept {
			continue
		}
		reached := p.scope.reached(r.outline.main.uses)
		if slices.ContainsFunc(changed, func(name string) bool { return reached[name] }) {
			r.stale = true
			out = append(out, r)
		}
	}
	return out
}

package judge

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/audit"
)

// authors gives the records of a fixture groups of a size; sets share none.
func (m *fixture) authors(size int) []int {
	out, next := make([]int, len(m.y)), 0
	for _, set := range [][2]int{{0, m.forget}, {m.forget, m.forget + m.retain}, {m.forget + m.retain, len(m.y)}} {
		for i := set[0]; i < set[1]; i++ {
			if (i-set[0])%size == 0 {
				next++
			}
			out[i] = 1000 - next
		}
	}
	return out
}

// shareDifficulty makes records of a group equally hard.
func (m *fixture) shareDifficulty(groups []int) {
	first := map[int]int{}
	for i, g := range groups {
		if _, known := first[g]; !known {
			first[g] = i
		}
		m.hard[i] = m.hard[first[g]]
	}
}

// grouped writes a folder with groups of a size whose records are equally hard.
func grouped(t *testing.T, size int, unlearned func(m *fixture) func(int) bool) damaged {
	m := newFixture(31, 120, 200, 160)
	d := damaged{t, t.TempDir(), m}
	groups := m.authors(size)
	m.shareDifficulty(groups)
	m.write(t, d.dir, unlearned(m), 24)
	d.rows("group.npy", groups)
	d.raw("audit.json", `{"group_unit": "author"}`)
	return d
}

func forgot(m *fixture) func(int) bool { return m.retained }

func TestAReportIsOverGroups(t *testing.T) {
	d := grouped(t, 10, forgot)
	over := audited(t, d.dir)
	d.remove("group.npy")
	d.remove("audit.json")
	alone := audited(t, d.dir)
	for _, v := range over.Verdicts {
		r, o := v.Reading, alone.verdict(t, v.Name()).Reading
		if v.Lens.Info().Ungrouped != "" {
			if r.Clustered != nil || r.Low != o.Low {
				t.Errorf("%s: %+v", v.Name(), r.Estimate)
			}
			continue
		}
		// These split held-out records by group, or try no record on others of its own group.
		splits := v.Name() == audit.Threshold{}.Name() || v.Name() == audit.Prototypes{}.Name()
		if r.Clustered == nil || r.Over != "authors" || r.Clustered.Records < 120 || !splits && math.Abs(r.Value-o.Value) > 1e-12 || o.Clustered != nil {
			t.Errorf("%s: %+v (%+v), without groups %+v", v.Name(), r.Estimate, r.Clustered, o.Estimate)
		}
	}
	loss := over.verdict(t, "loss").Reading
	if loss.N != 28 || loss.Clustered.Records != 280 || loss.Clustered.Smallest != 12 || loss.Clustered.DesignEffect < 2 {
		t.Errorf("loss: %d authors, %+v", loss.N, loss.Clustered)
	}
	if plain := alone.verdict(t, "loss").Reading; loss.High-loss.Low < 1.3*(plain.High-plain.Low) || loss.Floor.P95 < 1.3*plain.Floor.P95 {
		t.Errorf("over authors %v, floor %v; over records %v, floor %v", loss.Estimate, loss.Floor, plain.Estimate, plain.Floor)
	}
	if narrow := alone.verdict(t, "loss"); !(over.verdict(t, "loss").Smallest > 1.3*narrow.Smallest) {
		t.Errorf("power: %v over authors, %v over records", over.verdict(t, "loss").Smallest, narrow.Smallest)
	}
}

func TestAReportSaysWhatItIsOver(t *testing.T) {
	d := grouped(t, 10, func(m *fixture) func(int) bool { return m.all })
	r := audited(t, d.dir)
	page, err := r.Page()
	must(t, err)
	var html, md, out bytes.Buffer
	must(t, page.HTML(&html))
	must(t, page.Markdown(&md))
	must(t, r.JSON(&out))
	for _, text := range []string{html.String(), md.String()} {
		for _, want := range []string{"The records are of 48 authors.", "design effect", "subsets: records taken as independent; its interval is over draws",
			"120 forget and 160 held-out records of 12 and 16 authors", "over 28 authors"} {
			if !strings.Contains(text, want) {
				t.Errorf("the report does not say %q", want)
			}
		}
	}
	var j struct {
		Groups struct {
			Unit   string
			Groups int
			Sets   map[string]int
		}
		Verdicts []struct {
			Judgement string
			Reading   struct {
				Over      string
				N         int
				Clustered *struct {
					Records      int
					DesignEffect float64 `json:"design_effect"`
				}
			}
		}
	}
	must(t, json.Unmarshal(out.Bytes(), &j))
	if j.Groups.Unit != "author" || j.Groups.Groups != 48 || j.Groups.Sets["forget"] != 12 || j.Groups.Sets["retain"] != 20 || j.Groups.Sets["heldout"] != 16 {
		t.Errorf("%+v", j.Groups)
	}
	if v := j.Verdicts[0]; v.Reading.Over != "authors" || v.Reading.N != 28 || v.Reading.Clustered == nil || v.Reading.Clustered.DesignEffect < 2 {
		t.Errorf("%+v", v)
	}
}

// Without group.npy a report says nothing of groups.
func TestAReportWithoutGroupsDoesNotSpeakOfThem(t *testing.T) {
	d := grouped(t, 10, forgot)
	d.remove("group.npy")
	d.remove("audit.json")
	r := audited(t, d.dir)
	var out bytes.Buffer
	must(t, r.JSON(&out))
	must(t, r.Table().Text(&out))
	for _, word := range []string{"clustered", `"groups"`, "design effect", "authors"} {
		if strings.Contains(out.String(), word) {
			t.Errorf("the report says %q", word)
		}
	}
}

// Groups of one record each change no number, and names change nothing.
func TestGroupsOfOneRecordChangeNoNumber(t *testing.T) {
	d := grouped(t, 1, forgot)
	own := audited(t, d.dir)
	d.remove("group.npy")
	d.remove("audit.json")
	without := audited(t, d.dir)
	for i, v := range own.Verdicts {
		w := without.Verdicts[i]
		for _, pair := range [][2]float64{{v.Reading.Value, w.Reading.Value}, {v.Reading.Low, w.Reading.Low}, {v.Reading.High, w.Reading.High}, {v.Reading.Floor.P95, w.Reading.Floor.P95}} {
			if math.Abs(pair[0]-pair[1]) > 1e-12 {
				t.Errorf("%s: %v and %v", v.Name(), v.Reading.Estimate, w.Reading.Estimate)
			}
		}
		if v.Call != w.Call || v.Reading.Over != w.Reading.Over {
			t.Errorf("%s: %s over %s, %s over %s", v.Name(), v.Call, v.Reading.Over, w.Call, w.Reading.Over)
		}
	}
	if !slices.ContainsFunc(own.Evidence.Notes, func(s string) bool { return strings.Contains(s, "Every record is a group of its own") }) {
		t.Errorf("%q", own.Evidence.Notes)
	}
}

func TestGroupsMayBeText(t *testing.T) {
	d := grouped(t, 10, forgot)
	numbers, err := Open(d.dir)
	must(t, err)
	var names []string
	for _, g := range numbers.Groups {
		names = append(names, "author "+string(rune('A'+g%26))+string(rune('a'+g/26)))
	}
	d.words("group.npy", names)
	text, err := Open(d.dir)
	must(t, err)
	if text.CountGroups(text.Forget) != 12 || len(text.groupNames) != 48 {
		t.Errorf("%d names", len(text.groupNames))
	}
	alike := func(e *Evidence) bool {
		return slices.ContainsFunc(e.Notes, func(s string) bool { return strings.Contains(s, "differ in capitals or spaces alone") })
	}
	if alike(numbers) || alike(text) {
		t.Errorf("groups of different names are said to be alike: %q", text.Notes)
	}
	last := len(names) - 1
	whole := names[last]
	names[last] = " " + strings.ToUpper(whole)
	d.words("group.npy", names)
	spaced, err := Open(d.dir)
	must(t, err)
	if !alike(spaced) {
		t.Errorf("a group in two spellings is not noted: %q", spaced.Notes)
	}
	names[last] = whole
	d.words("group.npy", names)
	at := map[int]int{}
	for i, g := range numbers.Groups {
		if other, known := at[g]; known && other != text.Groups[i] {
			t.Fatalf("record %d is in another group", i)
		}
		at[g] = text.Groups[i]
	}
}

// A single group, or a few, show too little of how groups differ; this is said, and no interval is guessed.
func TestFewGroupsAreTooFew(t *testing.T) {
	for _, c := range []struct {
		size     int
		says     string
		interval bool
	}{{120, "1 author in the smaller set", false}, {40, "3 authors in the smaller set", true}} {
		r := audited(t, grouped(t, c.size, func(m *fixture) func(int) bool { return m.all }).dir)
		for _, v := range r.Verdicts {
			if v.Lens.Info().Ungrouped != "" {
				continue
			}
			nothing := v.Name() == audit.Prototypes{}.Name() // it tries no record on others of its own group
			if v.Call != audit.TooFew || !strings.Contains(v.Why, "author") || v.Reading.HasInterval() != (c.interval && !nothing) {
				t.Errorf("%d records each: %s: %s, %q, %v", c.size, v.Name(), v.Call, v.Why, v.Reading.Estimate)
			}
		}
		if v := r.verdict(t, "loss"); !strings.Contains(v.Why, c.says) {
			t.Errorf("%q", v.Why)
		}
		noted := slices.ContainsFunc(r.Evidence.Notes, func(s string) bool {
			return strings.Contains(s, "The 120 forgotten records are of 1 author") && strings.Contains(s, "no interval over authors is possible")
		})
		if noted == c.interval {
			t.Errorf("%q", r.Evidence.Notes)
		}
		must(t, r.Write(t.TempDir()))
	}
}

// Groups that are forgotten in part are accepted where audit.json says so, with a warning.
func TestMixedGroupsAreCounted(t *testing.T) {
	d := grouped(t, 10, forgot)
	groups := d.m.authors(10)
	for i := range 30 { // three authors have retained records, two held-out ones
		groups[130+i], groups[330+i] = groups[i], groups[40+i%20]
	}
	d.rows("group.npy", groups)
	if _, err := Open(d.dir); err == nil || !strings.Contains(err.Error(), `groups "999", "998", "997" with records to be forgotten have retained records too`) {
		t.Errorf("%v", err)
	}
	d.raw("audit.json", `{"group_unit": "author", "groups_may_mix": true}`)
	r := audited(t, d.dir)
	notes := strings.Join(r.Evidence.Notes, "\n")
	for _, want := range []string{"3 authors with forgotten records have retained ones too", "2 authors with forgotten records have held-out ones too"} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q does not say %q", notes, want)
		}
	}
	if loss := r.verdict(t, "loss").Reading; loss.N != 25 { // 12 with forgotten records, 13 with held-out ones alone
		t.Errorf("the loss is over %d authors", loss.N)
	}
	var out bytes.Buffer
	must(t, r.JSON(&out))
	if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), `"mixed": { "heldout": 2, "retain": 3 }`) {
		t.Error("report.json does not count them")
	}
}

// Along unlearning, shares and mean losses are over groups too.
func TestATrajectoryIsOverGroups(t *testing.T) {
	m := newFixture(33, 120, 200, 160)
	d := damaged{t, t.TempDir(), m}
	groups := m.authors(10)
	m.shareDifficulty(groups)
	m.way(t, d.dir, 1, 0.5, 0)
	d.rows("group.npy", groups)
	along := follow(t, d.dir)
	for _, c := range along.Curves {
		for _, v := range c.Steps {
			if v.Reading.Clustered == nil || v.Reading.Over != "groups" || v.Reading.N > 28 {
				t.Errorf("%s: %+v", c.Name(), v.Reading.Estimate)
			}
		}
	}
	if len(along.Curves) != 7 {
		t.Errorf("%d curves", len(along.Curves))
	}
}

func TestUnitsHaveTheirPlural(t *testing.T) {
	for unit, want := range map[string]string{"": "groups", "author": "authors", "city": "cities", "day": "days", "class": "classes", "branch": "branches", "box": "boxes"} {
		e := audit.Evidence{GroupUnit: unit}
		if e.Units() != want || e.Unit(2) != "2 "+want {
			t.Errorf("%q: %s", unit, e.Units())
		}
	}
}

// Where no memory is seen in records of groups, the answer says that it would miss one of a few groups; of records without groups
// it says nothing of the kind, nor where a memory is seen.
func TestAnAnswerOverGroupsSaysWhatItHides(t *testing.T) {
	d := grouped(t, 10, forgot)
	of := func() Headline { r := audited(t, d.dir); return r.Headline(r.Evidence.ModelsOf(Unlearned)[0].Name) }
	h := of()
	if h.Answer != NoMemory && h.Answer != NotShown {
		t.Fatalf("the answer is %q", h.Answer)
	}
	if want := "A memory of a few of the 12 authors would not show"; !strings.HasPrefix(h.Hides, want) || !strings.Contains(h.String(), want) {
		t.Errorf("%q: %s", h.Hides, h)
	}
	d.remove("group.npy")
	d.remove("audit.json")
	if h := of(); h.Hides != "" {
		t.Errorf("without groups: %q", h.Hides)
	}
}

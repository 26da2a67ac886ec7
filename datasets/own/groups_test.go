package own_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/own"
)

// visits is a table of n visits of patients with three visits each, the last ten without a patient.
func visits(n int) string {
	return rows("patient,age,ward,cured", n, func(i int) string {
		patient := fmt.Sprintf("P%02d", i/3)
		if i >= n-10 {
			patient = ""
		}
		return fmt.Sprintf("%s,%d,%s,%s", patient, 20+i%60, []string{"heart", "bone", "eye"}[i%3], []string{"yes", "no"}[i*7%11%2])
	})
}

// inBoth are the values of a column that rows of both parts have; a missing value is that of one row.
func inBoth(t testing.TB, p *datasets.Prepared, of func(id int) string) (out []string) {
	t.Helper()
	var train []string
	for _, id := range p.Train.IDs {
		train = append(train, of(id))
	}
	for _, id := range p.Test.IDs {
		if v := of(id); v != "" && slices.Contains(train, v) {
			out = append(out, v)
		}
	}
	return out
}

// Rows of one patient are in one part, in every split, also where some of them must be in the train part: then all are. The column is no
// feature, and a record without a patient is a group of its own.
func TestRowsOfAGroupStayTogether(t *testing.T) {
	table := readTable(t, write(t, "visits.csv", visits(150)), own.Target("cured"), own.Group("patient"))
	if c := found(t, table, "patient"); c.Role != own.RoleGroup {
		t.Errorf("the column is %+v", c)
	}
	if note := "The split keeps the rows of one patient together: 47 groups, the largest with 3 rows. 10 rows without a patient: each is a group of its own."; !slices.Contains(table.Report().Notes, note) {
		t.Errorf("%q", table.Report().Notes)
	}
	nobodys := 0
	for shift := range 5 {
		p, err := table.Prepare(t.Context(), shift)
		if err != nil {
			t.Fatal(err)
		}
		c := column(t, p, "patient")
		patient := func(id int) string {
			if c.Missing(id) {
				return ""
			}
			return c.Values[c.Codes[id]]
		}
		if both := inBoth(t, p, patient); len(both) > 0 || len(p.Test.IDs) < 20 || len(p.Test.IDs) > 30 || p.Train.X.Cols != 2 {
			t.Errorf("shift %d: %v are in both parts, %d rows are held out, %d features", shift, both, len(p.Test.IDs), p.Train.X.Cols)
		}
		if p.About.GroupColumn != "patient" {
			t.Errorf("the groups are %q", p.About.GroupColumn)
		}
		for _, id := range p.Test.IDs {
			if c.Missing(id) {
				nobodys++
			}
		}
		held := p.Test.IDs[0]
		kept, err := table.PrepareKeeping(t.Context(), shift, []int{held})
		if err != nil {
			t.Fatal(err)
		}
		if both := inBoth(t, kept, patient); len(both) > 0 || slices.Contains(kept.Test.IDs, held) || len(kept.Test.IDs) >= len(p.Test.IDs) {
			t.Errorf("shift %d: with row %d kept %v are in both parts", shift, held, both)
		}
	}
	if nobodys == 0 || nobodys%10 == 0 {
		t.Errorf("%d rows without a patient are held out in five splits: they are not together", nobodys)
	}
	plain := readTable(t, write(t, "visits.csv", visits(150)), own.Target("cured"))
	p, err := plain.Prepare(t.Context(), 0)
	if err != nil || plain.Key() == table.Key() || p.About.GroupColumn != "" {
		t.Errorf("without groups: %v, %q", err, p.About.GroupColumn)
	}
}

// Rows with equal features are in one part, whatever their class; with groups, so is what both connect.
func TestEqualRowsStayTogether(t *testing.T) {
	file := rows("id_card,age,ward,cured", 240, func(i int) string {
		k := i % 80 // every row three times
		return fmt.Sprintf("C%d,%d,%s,%s", i/2, 20+k, []string{"heart", "bone"}[k%2], []string{"yes", "no"}[i*7%11%2])
	})
	twice := func(p *datasets.Prepared) int {
		age, ward := column(t, p, "age"), column(t, p, "ward")
		return len(inBoth(t, p, func(id int) string { return fmt.Sprint(age.Numbers[id], ward.Codes[id]) }))
	}
	path := write(t, "wards.csv", file)
	prepare := func(options ...own.TableOption) *datasets.Prepared {
		p, err := readTable(t, path, append(options, own.Target("cured"), own.Identifier("id_card"))...).Prepare(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := prepare(); twice(p) < 10 {
		t.Errorf("without the option %d rows are in both parts", twice(p))
	}
	p := prepare(own.CopiesTogether())
	if twice(p) > 0 || math.Abs(float64(len(p.Test.IDs))-48) > 6 || p.About.GroupColumn != "" {
		t.Errorf("%d rows are in both parts, %d are held out", twice(p), len(p.Test.IDs))
	}
	// Neighbouring rows share a card, and with their copies everything would hang together: nothing can be held out.
	_, err := readTable(t, path, own.Target("cured"), own.CopiesTogether(), own.Group("id_card")).Prepare(t.Context(), 0)
	if err == nil {
		p := prepare(own.CopiesTogether(), own.Group("id_card"))
		card := column(t, p, "id_card")
		if both := inBoth(t, p, func(id int) string { return card.Values[card.Codes[id]] }); len(both) > 0 || twice(p) > 0 {
			t.Errorf("%v and %d rows are in both parts", both, twice(p))
		}
	}
}

func TestGroupsThatCannotBeAreRefused(t *testing.T) {
	path := write(t, "visits.csv", visits(60))
	for name, of := range map[string]struct {
		options []own.TableOption
		want    string
	}{
		"no such column": {[]own.TableOption{own.Group("patients")}, `there is no column "patients"; did you mean "patient"?`},
		"the target":     {[]own.TableOption{own.Group("cured")}, `the column "cured" is named as the target and as the group`},
		"ignored":        {[]own.TableOption{own.Group("patient"), own.Ignore("patient")}, `the column "patient" cannot be the group and ignored`},
		"two":            {[]own.TableOption{own.Group("patient"), own.Group("ward")}, `the group is "patient" and "ward"`},
		"no name":        {[]own.TableOption{own.Group("")}, `one column names it`},
	} {
		_, err := own.ReadTable(path, append(of.options, own.Target("cured"))...)
		wants(t, name, err, of.want)
	}
	table := readTable(t, path, own.Target("cured"), own.Group("ward"))
	_, err := table.Prepare(t.Context(), 0)
	wants(t, "three wards", err, "60 rows in 3 groups leave no test part")
	table = readTable(t, write(t, "visits.csv", visits(30)), own.Target("cured"), own.Group("patient"))
	p, err := table.Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = table.PrepareKeeping(t.Context(), 0, p.Test.IDs)
	wants(t, "all of the test part", err, "to keep in the train part, with all that is kept together with them, leave none for testing")
	_, err = own.ReadTexts(write(t, "notes.csv", notes(",", 60)), own.Column("note"), own.Target("ward"), own.CopiesTogether())
	wants(t, "texts", err, "CopiesTogether() is an option of tables")
}

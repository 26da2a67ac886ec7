package own_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/own"
)

// What is printed may show the cells of identifiers, groups and texts; what is passed on names their lines alone.
func TestAReportThatIsPassedOnShowsNoIdentifiers(t *testing.T) {
	number := func(format string) func(i int) string { return func(i int) string { return fmt.Sprintf(format, i) } }
	for name, c := range map[string]struct {
		cell    func(i int) string
		options []own.TableOption
		said    string // of the notes that are printed
		secret  string // in every cell
		passed  string // of the notes that are passed on
	}{
		"codes":       {number("0787%02d"), nil, "cells such as 078700 (line 2) are codes", "0787", "cells such as ... (line 2) are codes"},
		"long":        {number("787000000000000000000%02d"), nil, "(line 2) have more digits than", "7870", "cells such as ... (line 2) have more"},
		"amounts":     {number("787%02d kg"), nil, `"78700 kg" (line 2) is read as a name`, "787", `"..." (line 2) is read as a name; write`},
		"months":      {number("20%02d-03"), nil, `"2000-03" (line 2) is a month`, "-03", `"..." (line 2) is a month, and`},
		"dates":       {number("%02d/13/1987"), nil, "", "1987", ""},
		"days":        {func(i int) string { return fmt.Sprintf("%d/%d/1987", 13+i%15, 1+i%12) }, nil, "looks like a date", "1987", `"..." (line 2) looks like a date; Date("person_id"`},
		"compact":     {func(i int) string { return fmt.Sprintf("1987%02d%02d", 1+i%12, 1+i/12) }, nil, "can be a date, such as 19870101", "1987", "can be a date, such as ... (line 2)"},
		"a text":      {func(i int) string { return map[bool]string{true: "Ann Lee", false: fmt.Sprint(i % 7)}[i == 3] }, []own.TableOption{own.Group("person_id")}, `line 5 has "Ann Lee": read as names. Missing("Ann Lee")`, "Ann", `line 5 has "...": read as names. Missing("...")`},
		"None":        {func(i int) string { return map[bool]string{true: "None", false: fmt.Sprintf("Ann %d", i)}[i == 3] }, nil, `"None" (line 5) is read as a name`, "Ann", `"None" (line 5) is read as a name`},
		"thousands":   {func(i int) string { return fmt.Sprintf("%d.787", i+10) }, []own.TableOption{own.Identifier("person_id")}, "such as 10.787 in line 2", ".787", "such as ... in line 2"},
		"no decimals": {func(i int) string { return fmt.Sprintf("%d,787.5", i+10) }, nil, "cells such as 10,787.5 (line 2) are no numbers", "787", "cells such as ... (line 2) are no numbers"},
	} {
		path := write(t, "t.csv", rows("person_id;x;y", 80, func(i int) string { return fmt.Sprintf("%s;%d;%s", c.cell(i), i*i%23, []string{"no", "yes"}[i%2]) }))
		table := readTable(t, path, append(c.options, own.Target("y"))...)
		if !strings.Contains(table.String(), c.said) {
			t.Errorf("%s: the terminal lacks %q:\n%s", name, c.said, table)
		}
		if role := found(t, table, "person_id").Role; role != own.RoleIdentifier && role != own.RoleGroup {
			t.Errorf("%s: the column is of the role %s", name, role)
		}
		passed := table.Report().PassOn()
		if text := passed.String(); strings.Contains(text, c.secret) || !strings.Contains(text, c.passed) || !strings.Contains(text, "not shown") {
			t.Errorf("%s: passed on is, for %q,\n%s", name, c.passed, text)
		}
		if c.said != "" && name != "None" && !strings.Contains(strings.Join(passed.Notes, "\n"), `"..." stands for the cell`) {
			t.Errorf("%s: the notes do not say what ... is: %q", name, passed.Notes)
		}
	}
}

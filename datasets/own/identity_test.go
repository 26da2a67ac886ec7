package own_test

// Columns whose names speak of identity: identifiers, codes, counts, and what is said of them.

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/own"
)

// named is a table with a column of this name. Its cells are those of cell.
func named(name string, n int, cell func(i int) string) string {
	return rows(name+",a,y", n, func(i int) string { return fmt.Sprintf("%s,%d,%s", cell(i), i*i%17, yes(i/2)) })
}

func TestNamesOfIdentifiersAreRecognised(t *testing.T) {
	thirty := func(i int) string { return fmt.Sprint(1000 + 7*(i%30)) }
	few := func(i int) string { return fmt.Sprint(i % 6) }
	for _, name := range []string{"patient_nbr", "patient_no", "patient number", "PatientNo", "customer_number", "case_no", "Subject No", "patient_num", "user_name",
		"Member-Nr", "social security number", "mrn", "userid", "PATIENTID", "uid", "guid", "device_uuid", "pat_id", "Kunden_Nr", "patient", "subject.id"} {
		table := readTable(t, write(t, "t.csv", named(name, 300, thirty)), own.Target("y"))
		note := fmt.Sprintf("%s: no feature, because it has the name of an identifier; Number(%q) makes it one.", name, name)
		if c := found(t, table, name); c.Role != own.RoleIdentifier || !strings.Contains(table.String(), note) {
			t.Errorf("%s: %s\n%s", name, c.Role, table)
		}
	}
	for _, name := range []string{"number of rooms", "num_rooms", "no_of_children", "num_children", "number", "num", "no", "house number", "room_no", "phone number count",
		"number_of_patient", "n_user", "age", "paid", "hybrid", "grid", "fluid"} {
		table := readTable(t, write(t, "t.csv", named(name, 300, thirty)), own.Target("y"))
		if c := found(t, table, name); c.Role != own.RoleFeature || strings.Contains(table.String(), "identifier") {
			t.Errorf("%s: %s\n%s", name, c.Role, table)
		}
	}
	for _, name := range []string{"customer_number", "case_no", "user_name", "patient"} { // counts and groups
		if c := found(t, readTable(t, write(t, "t.csv", named(name, 300, few)), own.Target("y")), name); c.Role != own.RoleFeature {
			t.Errorf("%s with few values: %s", name, c.Role)
		}
	}
	// The names of persons are texts.
	text := named("customer name", 300, func(i int) string { return fmt.Sprintf("Ann %c", 'A'+i%26) })
	if c := found(t, readTable(t, write(t, "t.csv", text), own.Target("y")), "customer name"); c.Role != own.RoleIdentifier {
		t.Errorf("customer name: %s", c.Role)
	}
}

// A column of few values with many records each holds codes, whatever its name; those of persons are
// identifiers all the same.
func TestCodesWithTheNameOfAnIdentifierAreFeatures(t *testing.T) {
	values := func(n int) func(i int) string { return func(i int) string { return fmt.Sprint(1 + i%n) } }
	hospital := func(i int) string { return fmt.Sprintf("H%d", i%7) }
	for name, c := range map[string]struct {
		column string
		rows   int
		cell   func(i int) string
		note   string // of a feature
	}{
		"numbers": {"admission_type_id", 600, values(8), `admission_type_id: a feature, though it has the name of an identifier: 8 different values in 600 cells ` +
			`are codes. Identifier("admission_type_id") makes it an identifier; it is read as numbers, and Category("admission_type_id") reads it as names.`},
		"names": {"hospitalId", 350, hospital, `hospitalId: a feature, though it has the name of an identifier: 7 different values in 350 cells are codes. ` +
			`Identifier("hospitalId") makes it an identifier.`},
		"fifty values":   {"zone_id", 2500, values(50), "50 different values in 2500 cells are codes"},
		"more":           {"zone_id", 2550, values(51), ""},
		"fewer records":  {"hospitalId", 349, hospital, ""},
		"persons":        {"subject_id", 3000, values(30), ""},
		"named together": {"patientid", 3000, values(30), ""},
		"a speaker":      {"speaker_uid", 600, values(3), ""},
		"id alone":       {"id", 600, values(3), ""},
	} {
		table := readTable(t, write(t, "t.csv", named(c.column, c.rows, c.cell)), own.Target("y"))
		role, note := own.RoleFeature, c.note
		if note == "" {
			role, note = own.RoleIdentifier, "no feature, because it has the name of an identifier"
		}
		if got := found(t, table, c.column); got.Role != role || !strings.Contains(table.String(), note) {
			t.Errorf("%s: %s\n%s", name, got.Role, table)
		}
	}
	path := write(t, "t.csv", named("hospital_id", 600, values(8)))
	if c := found(t, readTable(t, path, own.Target("y"), own.Identifier("hospital_id")), "hospital_id"); c.Role != own.RoleIdentifier {
		t.Errorf("forced: %s", c.Role)
	}
	if table := readTable(t, path, own.Target("y"), own.Category("hospital_id")); strings.Contains(table.String(), "though it has the name") {
		t.Errorf("a note on what was said:\n%s", table)
	}
}

// No column becomes an identifier without a sentence.
func TestEveryIdentifierIsNoted(t *testing.T) {
	for want, c := range map[string]struct {
		name string
		cell func(i int) string
	}{
		`num: no feature, because its numbers are all different and follow each other, as those of rows do; Number("num") makes it one.`: {"num",
			func(i int) string { return fmt.Sprint(1 + i*37%300) }},
		`key: no feature, because it has the name of an identifier, and its numbers are all different; Number("key")`: {"key", func(i int) string { return fmt.Sprint(7 * i) }},
		`person_id: no feature, because it has the name of an identifier; Number("person_id")`:                        {"person_id", func(i int) string { return fmt.Sprint(7 * i) }},
		`remark: no feature, because all its values are different; Category("remark") makes it one.`:                  {"remark", func(i int) string { return fmt.Sprint("seen ", i) }},
		`remark: no feature, because most of its values are different; Category("remark")`:                            {"remark", func(i int) string { return fmt.Sprint("seen ", i*2/3) }},
	} {
		table := readTable(t, write(t, "t.csv", named(c.name, 300, c.cell)), own.Target("y"))
		if got := found(t, table, c.name); got.Role != own.RoleIdentifier || strings.Count(table.String(), want) != 1 {
			t.Errorf("%s: %s, want %s\n%s", c.name, got.Role, want, table)
		}
	}
	table := readTable(t, write(t, "t.csv", named("place", 3300, func(i int) string { return fmt.Sprint("p", i%1100) })), own.Target("y"))
	if want := "place: no feature, because it has 1100 different values"; !strings.Contains(table.String(), want) {
		t.Errorf("want %s\n%s", want, table)
	}
	forced := readTable(t, write(t, "t.csv", named("person_id", 300, yes)), own.Target("y"), own.Identifier("person_id"))
	if strings.Contains(forced.String(), "no feature, because") {
		t.Errorf("a note on what was said:\n%s", forced)
	}
}

// Long numbers of as many digits may be those of telephones; incomes, counts and few values are not.
func TestNumbersThatMayBeCodesAreNoted(t *testing.T) {
	const want = `contact: a feature, though its numbers of 10 digits may be codes, as those of telephones. Identifier("contact") makes it an identifier; ` +
		`Category("contact") reads it as names.`
	for what, c := range map[string]struct {
		noted bool
		cell  func(i int) string
	}{
		"telephones":   {true, func(i int) string { return fmt.Sprint(2_010_000_000 + 17_000_011*(i*37%300)) }},
		"other digits": {false, func(i int) string { return fmt.Sprint(910_000_000 + 17_000_011*(i*37%300)) }},
		"short":        {false, func(i int) string { return fmt.Sprint(201_000 + 1_701*(i*37%300)) }},
		"few values":   {false, func(i int) string { return fmt.Sprint(2_010_000_000 + 17_000_011*(i%100)) }},
		"negative":     {false, func(i int) string { return fmt.Sprint(-2_010_000_000 - 17_000_011*(i*37%300)) }},
	} {
		table := readTable(t, write(t, "t.csv", named("contact", 300, c.cell)), own.Target("y"))
		if got := found(t, table, "contact"); got.Role != own.RoleFeature || strings.Contains(table.String(), want) != c.noted {
			t.Errorf("%s: %s, a note: %v\n%s", what, got.Role, c.noted, table)
		}
	}
	forced := readTable(t, write(t, "t.csv", named("contact", 300, func(i int) string { return fmt.Sprint(2_010_000_000 + 17_000_011*(i*37%300)) })), own.Target("y"),
		own.Number("contact"))
	if strings.Contains(forced.String(), "may be codes") {
		t.Errorf("a note on what was said:\n%s", forced)
	}
}

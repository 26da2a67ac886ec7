package datasets

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func pack(t testing.TB, b []byte, level int) []byte {
	t.Helper()
	var buf bytes.Buffer
	z, err := gzip.NewWriterLevel(&buf, level)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// shrunk is a reading of one of the large sets as if its publisher's file were
// the packed bytes and had so many rows.
func shrunk(t testing.TB, s set, rows int, packed []byte) *loader {
	t.Helper()
	f := s.info.Files[0]
	f.Size, f.SHA256 = int64(len(packed)), digest(packed)
	r := &loader{ctx: t.Context(), info: s.info, folder: t.TempDir()}
	r.info.Rows, r.info.Files = rows, []File{f}
	if err := os.WriteFile(filepath.Join(r.folder, f.Name), packed, 0o644); err != nil {
		t.Fatal(err)
	}
	return r
}

// table runs a set's loader as Load does.
func table(s set, r *loader) (*Table, error) {
	t, err := s.load(r)
	if err != nil {
		return nil, err
	}
	return r.finish(t)
}

// cell is a record of covtype.data: area and soil count from 1.
func cell(terrain string, area, soil int, class string) string {
	flags := make([]string, 44)
	for i := range flags {
		flags[i] = "0"
	}
	flags[area-1], flags[4+soil-1] = "1", "1"
	return terrain + "," + strings.Join(flags, ",") + "," + class + "\n"
}

var cells = cell("2596,51,3,258,0,510,221,232,148,6279", 1, 29, "5") +
	cell("2590,56,2,212,-6,390,220,235,151,6225", 4, 40, "1") +
	cell("3000,359,9,268,65,3180,234,238,135,6121", 2, 1, "7")

// collision is a record of HIGGS.csv with the features first, first+1, ... of 28.
func collision(label string, first int) string {
	record := []string{label}
	for k := range 28 {
		record = append(record, []string{"", "-"}[k%2]+string(rune('0'+(first+k)%10))+".500000000000000000e+00")
	}
	return strings.Join(record, ",") + "\n"
}

const signalText, backgroundText = "1.000000000000000000e+00", "0.000000000000000000e+00"

var collisions = collision(signalText, 1) + collision(backgroundText, 4) + collision(signalText, 7)

func TestCovertypeIsReadInThePublishedFormat(t *testing.T) {
	s := covertype()
	r := shrunk(t, s, 3, pack(t, []byte(cells), gzip.BestSpeed))
	got, err := table(s, r)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Y, []int{4, 0, 6}) || got.Classes[4] != "Aspen" || got.Classes[6] != "Krummholz" {
		t.Errorf("labels %v of %v", got.Y, got.Classes)
	}
	row := got.X.Row(1)
	if !slices.Equal(row[:10], []float64{2590, 56, 2, 212, -6, 390, 220, 235, 151, 6225}) {
		t.Errorf("terrain %v", row[:10])
	}
	sum := 0.0
	for _, v := range row[10:] {
		sum += v
	}
	if sum != 2 || row[13] != 1 || row[53] != 1 {
		t.Errorf("areas and soils %v", row[10:])
	}
	for j, want := range map[int]string{0: "Elevation", 10: "Wilderness_Area_1", 13: "Wilderness_Area_4", 14: "Soil_Type_1", 53: "Soil_Type_40"} {
		if f := got.Features[j]; f.Name != want || f.Categorical {
			t.Errorf("feature %d is %+v, want %s", j, f, want)
		}
	}
	if want := []SourceFile{{Name: "covtype.data.gz", SHA256: r.info.Files[0].SHA256, Compressed: true}}; !slices.Equal(got.Sources, want) {
		t.Errorf("sources %+v", got.Sources)
	}
}

func TestHiggsTakesTheFirstRecordsAndLooksAtNoOther(t *testing.T) {
	s := higgs()
	text := collisions + "these,are,not,records\n\"\n"
	got, err := table(s, shrunk(t, s, 3, pack(t, []byte(text), gzip.BestSpeed)))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Y, []int{1, 0, 1}) || !slices.Equal(got.Classes, []string{"background", "signal"}) {
		t.Errorf("labels %v of %v", got.Y, got.Classes)
	}
	if row := got.X.Row(1); !slices.Equal(row[:4], []float64{4.5, -5.5, 6.5, -7.5}) || row[27] != -1.5 {
		t.Errorf("row %v", row)
	}
	for j, want := range map[int]string{0: "lepton pT", 4: "missing energy phi", 5: "jet 1 pt", 20: "jet 4 b-tag", 21: "m_jj", 27: "m_wwbb"} {
		if got.Features[j].Name != want {
			t.Errorf("feature %d is %s, want %s", j, got.Features[j].Name, want)
		}
	}
}

func TestBrokenLinesOfTheLargeTablesAreNamed(t *testing.T) {
	terrain := "1,2,3,4,5,6,7,8,9,10"
	for name, c := range map[string]struct {
		s          set
		text, want string
	}{
		"covertype class 8":       {covertype(), cells + cell(terrain, 1, 1, "8"), `covtype.data.gz:4: column 55 (target): unexpected value "8"`},
		"covertype class 0":       {covertype(), cell(terrain, 1, 1, "0"), `:1: column 55 (target): unexpected value "0"`},
		"covertype word":          {covertype(), cells + cell("1,x,3,4,5,6,7,8,9,10", 1, 1, "1"), `:4: column 2 (Aspect): "x" is not a finite decimal number`},
		"covertype short record":  {covertype(), cells + "1,2,3\n", "record on line 4: wrong number of fields"},
		"covertype other table":   {covertype(), "1,2,3\n", ":1: 3 fields, expected 55"},
		"covertype one row less":  {covertype(), cells, "read 3 x 54 values, expected 4 x 54"},
		"covertype one row more":  {covertype(), cells + cells, "read 6 x 54 values, expected 4 x 54"},
		"covertype empty":         {covertype(), "", "read 0 x 54 values, expected 4 x 54"},
		"higgs label 2":           {higgs(), collisions + collision("2.0", 1), `HIGGS.csv.gz:4: column 1 (target): unexpected value "2.0"`},
		"higgs label 0.5":         {higgs(), collision("0.5", 1), `:1: column 1 (target): unexpected value "0.5"`},
		"higgs label not finite":  {higgs(), collision("NaN", 1), `:1: column 1 (target): unexpected value "NaN"`},
		"higgs label word":        {higgs(), collision("signal", 1), `unexpected value "signal"`},
		"higgs word":              {higgs(), strings.Replace(collisions, "-2.5", "two", 1), `:1: column 3 (lepton eta): "two`},
		"higgs infinite":          {higgs(), strings.Replace(collisions, "1.500000000000000000e+00", "Inf", 1), `"Inf" is not a finite decimal number`},
		"higgs long record":       {higgs(), collisions + "1," + collision(signalText, 1), "record on line 4: wrong number of fields"},
		"higgs label last":        {higgs(), collision("1.5", 0), `column 1 (target): unexpected value "1.5"`},
		"higgs fewer than wanted": {higgs(), collisions, "read 3 x 28 values, expected 4 x 28"},
		"higgs huge value":        {higgs(), strings.Repeat("1", maxField+1) + collisions, "a value of"},
	} {
		_, err := table(c.s, shrunk(t, c.s, 4, pack(t, []byte(c.text), gzip.BestSpeed)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestACutOrOtherwiseUnreadableGzipIsAnErrorEvenWithTheRightHash(t *testing.T) {
	packed := pack(t, []byte(cells), gzip.BestSpeed)
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"cut":       {packed[:len(packed)-10], "unexpected EOF"},
		"not gzip":  {[]byte(cells), "not a gzip file"},
		"empty":     {nil, "not a gzip file"},
		"bad check": {append(bytes.Clone(packed[:len(packed)-8]), make([]byte, 8)...), "invalid checksum"},
	} {
		s := covertype()
		if _, err := table(s, shrunk(t, s, 3, c.b)); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "covtype.data.gz") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestOnlyThePublishersOwnCompressionVerifies(t *testing.T) {
	s := higgs()
	packed := pack(t, []byte(collisions), gzip.BestSpeed)
	flipped := bytes.Clone(packed)
	flipped[len(flipped)-1] ^= 1
	for name, other := range map[string][]byte{
		"another compression": pack(t, []byte(collisions), gzip.NoCompression),
		"a flipped bit":       flipped,
		"one byte more":       append(bytes.Clone(packed), 0),
		"one byte less":       packed[:len(packed)-1],
		"the plain text":      []byte(collisions),
		"nothing":             nil,
	} {
		r := shrunk(t, s, 3, packed)
		f := r.info.Files[0]
		if st := Status(t.Context(), r.folder, f); !st.OK() || st.Got != digest(packed) || st.Want != st.Got {
			t.Errorf("the publisher's file: %+v", st)
		}
		if err := os.WriteFile(filepath.Join(r.folder, f.Name), other, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := table(s, r)
		if !errors.Is(err, ErrMismatch) || !strings.Contains(err.Error(), f.SHA256) || !strings.Contains(err.Error(), "HIGGS.csv.gz") {
			t.Errorf("%s: %v", name, err)
		}
		st := Status(t.Context(), r.folder, f)
		if !errors.Is(st.Err, ErrMismatch) || st.Got == "" || st.Got == st.Want || !strings.Contains(st.Err.Error(), st.Got) {
			t.Errorf("%s: %+v", name, st)
		}
	}
}

func TestThePlainFormOfACompressedFileIsMissing(t *testing.T) {
	s := covertype()
	packed := pack(t, []byte(cells), gzip.BestSpeed)
	r := shrunk(t, s, 3, packed)
	from := filepath.Join(r.folder, "covtype.data.gz")
	for _, name := range []string{"covtype.data", "covtype.data.gz.gz"} {
		if err := os.WriteFile(filepath.Join(r.folder, name), []byte(cells), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(from); err != nil {
		t.Fatal(err)
	}
	_, err := table(s, r)
	if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), from) || !strings.Contains(err.Error(), "compressed") {
		t.Errorf("got %v", err)
	}
	if st := Status(t.Context(), r.folder, r.info.Files[0]); !errors.Is(st.Err, ErrMissing) || st.Got != "" || st.Path != from {
		t.Errorf("got %+v", st)
	}
}

func TestCheckingACompressedFileStopsOnCancel(t *testing.T) {
	s := higgs()
	r := shrunk(t, s, 3, pack(t, []byte(collisions), gzip.BestSpeed))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.ctx = ctx
	if _, err := table(s, r); !errors.Is(err, context.Canceled) || errors.Is(err, ErrMismatch) {
		t.Errorf("got %v", err)
	}
}

func TestTheLargeTablesAreListedBesideRULERsTen(t *testing.T) {
	if n := len(RULER()); n != 10 || slices.Contains(RULER(), "covertype") || slices.Contains(RULER(), "higgs") {
		t.Errorf("RULER lists %d: %v", n, RULER())
	}
	for k, want := range []struct {
		name           string
		rows, features int
		classes        int
	}{{"covertype", 581012, 54, 7}, {"higgs", 100000, 28, 2}} {
		i, err := Lookup(want.name)
		if err != nil || i.Rows != want.rows || i.Features != want.features || len(i.Classes) != want.classes || len(i.Reading) == 0 {
			t.Errorf("%+v, %v", i, err)
		}
		if got := All()[10+k].Name; got != want.name {
			t.Errorf("entry %d of All is %s, want %s", 10+k, got, want.name)
		}
	}
	for _, i := range All() {
		for _, f := range i.Files {
			if f.Compressed != (i.Name == "covertype" || i.Name == "higgs") || f.Compressed && filepath.Ext(f.Name) != ".gz" {
				t.Errorf("%s: %+v", i.Name, f)
			}
		}
	}
	if len(covertypeFields()) != 54 || len(higgsFields()) != 28 {
		t.Errorf("%d and %d fields", len(covertypeFields()), len(higgsFields()))
	}
}

// The bytes are the text of the table, or with raw the gzip file itself.
func FuzzHiggs(f *testing.F) {
	f.Add([]byte(collisions), false)
	f.Add([]byte(collision("?", 1)), false)
	f.Add([]byte(collision(signalText, 1)+"0,\"\n"), false)
	f.Add(pack(f, []byte(collisions), gzip.BestSpeed), true)
	f.Add(pack(f, []byte(collisions), gzip.BestSpeed)[:60], true)
	f.Fuzz(func(t *testing.T, b []byte, raw bool) {
		if !raw {
			b = pack(t, b, gzip.BestSpeed)
		}
		s := higgs()
		got, err := table(s, shrunk(t, s, 2, b))
		if err != nil {
			return
		}
		if err := got.X.Check("table"); err != nil || len(got.Y) != 2 || got.Y[0]|got.Y[1] > 1 {
			t.Fatalf("%v: labels %v", err, got.Y)
		}
	})
}

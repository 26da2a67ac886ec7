package hdf5

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestGroupsAttributesAndReferences(t *testing.T) {
	for _, name := range forms {
		t.Run(name, func(t *testing.T) {
			f := fixture(t, name)
			root := []string{"crowd", "deep", "numbers", "soft", "strings", "table"}
			if name == "latest.h5" {
				root = []string{"crowd", "deep", "in_super_blocks", "numbers", "paged", "soft", "strings", "table"}
			}
			if got, err := f.Names("/"); err != nil || !slices.Equal(got, root) {
				t.Errorf("names %v, %v", got, err)
			}
			if got, err := f.Names("deep/er"); err != nil || !slices.Equal(got, []string{"still"}) {
				t.Errorf("names %v, %v", got, err)
			}
			if shape, err := f.Shape("/numbers/three"); err != nil || !slices.Equal(shape, []int{3, 4, 5}) {
				t.Errorf("shape %v, %v", shape, err)
			}
			for path, want := range map[string]bool{"/deep": true, "/numbers/three": false} {
				if got, err := f.IsGroup(path); err != nil || got != want {
					t.Errorf("%s is a group: %v, %v", path, got, err)
				}
			}
			for path, want := range map[string]bool{"/deep/er/still/here": true, "/deep/er/here": false} {
				if got, err := f.Has(path); err != nil || got != want {
					t.Errorf("%s is there: %v, %v", path, got, err)
				}
			}
			attributes(t, f)
			crowd(t, f, name == "latest.h5")
		})
	}
}

func attributes(t *testing.T, f *File) {
	for name, want := range map[string][]string{"text": {"csr_matrix"}, "bytes": {"old"}, "names": {"a", "b"}} {
		d, err := f.Attribute("/", name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := d.Strings(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	d, err := f.Attribute("/", "shape")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Numbers[int](d); err != nil || !slices.Equal(got, []int{3, 4}) {
		t.Errorf("shape: %v, %v", got, err)
	}
	if d, err = f.Attribute("/", "ref"); err != nil {
		t.Fatal(err)
	}
	to, err := d.References()
	if err != nil || len(to) != 1 {
		t.Fatal(to, err)
	}
	if d, err = f.ReadAt(to[0]); err != nil {
		t.Fatal(err)
	}
	if got, err := Numbers[int32](d); err != nil || !slices.Equal(got, []int32{-128, 127}) {
		t.Errorf("behind the reference: %v, %v", got, err)
	}
}

// crowd has more links and attributes than fit into a header.
func crowd(t *testing.T, f *File, large bool) {
	names, err := f.Names("/crowd")
	n := 9
	if large {
		n = 60
	}
	if err != nil || len(names) != n {
		t.Fatal(len(names), err)
	}
	for i, name := range names {
		link, err := f.Read("/crowd/" + name)
		if err != nil {
			t.Fatal(err)
		}
		attribute, err := f.Attribute("/crowd", strings.Replace(name, "name", "attribute", 1))
		if err != nil {
			t.Fatal(err)
		}
		a, errA := Numbers[int](link)
		b, errB := Numbers[int](attribute)
		if errA != nil || errB != nil || !slices.Equal(a, []int{i}) || !slices.Equal(b, []int{2 * i}) {
			t.Errorf("%s: %v, %v, %v, %v", name, a, b, errA, errB)
		}
	}
	if _, err := f.Attribute("/crowd", "none"); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestCompoundsGiveTheirMembers(t *testing.T) {
	d, err := fixture(t, "latest.h5").Read("/table")
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Members(); !slices.Equal(got, []string{"index", "n", "x", "flag", "pcs"}) || d.Class() != Compound {
		t.Errorf("members %v", got)
	}
	if _, err := d.Member("none"); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "latest.h5: /table: member \"none\"") {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsNotReadIsRefusedByName(t *testing.T) {
	f := fixture(t, "earliest.h5")
	read := func(path string) error { _, err := f.Read(path); return err }
	data := func(path string, use func(*Data) error) error {
		d, err := f.Read(path)
		if err != nil {
			return err
		}
		return use(d)
	}
	for want, err := range map[string]error{
		"earliest.h5: /soft: a soft or external link":                        read("/soft"),
		"earliest.h5: /soft: a soft":                                         read("soft/bytes"),
		"earliest.h5: /numbers: a group, not a dataset":                      read("/numbers"),
		"earliest.h5: /numbers/three: a dataset, not a group":                read("/numbers/three/x"),
		"earliest.h5: /numbers/none: not found":                              read("/numbers/none"),
		"earliest.h5: /strings/one: elements of class 9 are not numbers":     data("/strings/one", func(d *Data) error { _, err := Numbers[int](d); return err }),
		"earliest.h5: /numbers/half: element 2: -2.5 does not fit into a in": data("/numbers/half", func(d *Data) error { _, err := Numbers[int](d); return err }),
		"element 0: 4.25 does not fit into a int32":                          data("/numbers/scalar", func(d *Data) error { _, err := Numbers[int32](d); return err }),
		"9223372036854775807 does not fit into a float32":                    data("/numbers/unsigned", func(d *Data) error { _, err := Numbers[float32](d); return err }),
		"/numbers/bytes: elements of class 0 are not strings":                data("/numbers/bytes", func(d *Data) error { _, err := d.Text(); return err }),
		"/strings/fixed: 3 strings, expected one":                            data("/strings/fixed", func(d *Data) error { _, err := d.Text(); return err }),
		"/strings/fixed: elements of class 3 are not references":             data("/strings/fixed", func(d *Data) error { _, err := d.References(); return err }),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

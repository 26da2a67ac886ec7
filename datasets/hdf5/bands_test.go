package hdf5

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
)

// byBands puts the bands of a dataset together.
func byBands(t *testing.T, f *File, path string, most int) (raw []byte, bands int, err error) {
	t.Helper()
	next := 0
	err = f.EachBand(path, func(first int, d *Data) error {
		if first != next {
			t.Errorf("%s: a band at row %d after %d rows", path, first, next)
		}
		if next += d.Dims[0]; len(d.raw) > most && d.Dims[0] > 1 {
			t.Errorf("%s: a band of %d rows with %d bytes", path, d.Dims[0], len(d.raw))
		}
		raw = append(raw, d.raw...)
		bands++
		return nil
	})
	return raw, bands, err
}

// Bands of every size hold the bytes that the whole dataset holds, whatever its layout.
func TestBandsAreTheWholeDataset(t *testing.T) {
	defer func(before int) { bandBytes = before }(bandBytes)
	several := 0
	for _, name := range append([]string{"modern.h5", "v114.h5", "v2.h5"}, forms...) {
		f := fixture(t, name)
		var below func(path string)
		below = func(path string) {
			if group, err := f.IsGroup(path); err != nil || group {
				names, _ := f.Names(path)
				for _, n := range names {
					below(path + "/" + n)
				}
				return
			}
			whole, wantErr := f.Read(path)
			for _, bandBytes = range []int{1, 100, 1 << 20} {
				got, bands, err := byBands(t, f, path, bandBytes)
				dims, _ := f.Shape(path)
				switch {
				case len(dims) == 0:
				case wantErr != nil:
					if err == nil || err.Error() != wantErr.Error() {
						t.Errorf("%s: %s: %v, want %v", name, path, err, wantErr)
					}
				case err != nil || !bytes.Equal(got, whole.raw):
					t.Errorf("%s: %s: %d bytes in bands, %d as a whole, %v", name, path, len(got), len(whole.raw), err)
				case bands > 1:
					several++
				}
			}
		}
		below("")
	}
	if several < 50 {
		t.Errorf("only %d datasets have several bands", several)
	}
}

// A number that does not fit is named by its place in the dataset, not in the band.
func TestErrorsOfBandsNameTheElement(t *testing.T) {
	defer func(before int) { bandBytes = before }(bandBytes)
	bandBytes = 1
	f := fixture(t, "latest.h5")
	err := f.EachBand("numbers/unsigned", func(_ int, d *Data) error {
		_, err := Numbers[int32](d)
		return err
	})
	d, _ := f.Read("numbers/unsigned")
	if _, want := Numbers[int32](d); err == nil || err.Error() != want.Error() || !strings.Contains(err.Error(), "element 1: ") {
		t.Errorf("%v, want %v", err, want)
	}
}

// An error of the caller ends the reading and is returned as it is.
func TestAnErrorEndsTheBands(t *testing.T) {
	defer func(before int) { bandBytes = before }(bandBytes)
	bandBytes = 1
	enough, bands := errors.New("enough"), 0
	err := fixture(t, "latest.h5").EachBand("numbers/chunked", func(int, *Data) error { bands++; return enough })
	if err != enough || bands != 1 {
		t.Errorf("%d bands, %v", bands, err)
	}
	if err := fixture(t, "latest.h5").EachBand("nowhere", nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
	if err := fixture(t, "latest.h5").EachBand("/", nil); err == nil || !strings.Contains(err.Error(), "a group") {
		t.Errorf("%v", err)
	}
}

// A dataset of which nothing is stored has no bands if it is larger than nothing can fill.
func TestBandsThatNothingFillsAreRefused(t *testing.T) {
	u64 := func(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }
	o := &object{f: &File{size: 100}, messages: []message{
		{kind: msgDataspace, body: append([]byte{2, 1, 0, 1}, u64(1<<32)...)},
		{kind: msgDatatype, body: []byte{0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0}},
		{kind: msgLayout, body: append(append([]byte{3, contiguous}, u64(undefined)...), u64(undefined)...)},
	}}
	const want = "0 stored bytes cannot decompress to 4294967296 bytes"
	if _, err := o.bands(); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	o.messages[2].body = append(append([]byte{3, contiguous}, u64(90)...), u64(1<<32)...)
	if _, err := o.bands(); err == nil || err.Error() != "4294967296 bytes at byte 90 of a file of 100" {
		t.Errorf("%v", err)
	}
}

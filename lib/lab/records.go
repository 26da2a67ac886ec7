// Forget sets in files: numbers of records, or a mask.

package lab

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/files"
)

// maxRecordsFile is the largest file of record numbers, in bytes.
const maxRecordsFile = 64 << 20

// ReadRecords reads a forget set from a file. A file .npy holds numbers of records, counted
// from 0, or a mask with an entry per record. Any other file is text with one number per
// line; empty lines and lines that begin with # are skipped. A number that is named twice
// is an error of the forget set.
func ReadRecords(path string) (ForgetSet, error) {
	if strings.HasSuffix(strings.ToLower(path), ".npy") {
		return readArrayRecords(path)
	}
	b, err := files.Read(path, maxRecordsFile)
	if err != nil {
		return nil, err
	}
	b, err = files.TrimBOM(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if !utf8.Valid(b) {
		return nil, fmt.Errorf("%s: %w", path, files.ErrEncoding)
	}
	var out Records
	for k, line := range strings.Split(string(b), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		n, err := strconv.Atoi(line)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%s:%d: %q is not the number of a record, counted from 0", path, k+1, clipped(line))
		}
		out = append(out, n)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: names no record", path)
	}
	return out, nil
}

func readArrayRecords(path string) (ForgetSet, error) {
	info, err := npy.ReadInfo(path)
	if err != nil {
		return nil, err
	}
	if info.Kind() != 'b' {
		rows, err := npy.ReadIndices(path)
		switch {
		case err != nil:
			return nil, err
		case len(rows) == 0:
			return nil, fmt.Errorf("%s: names no record", path)
		case len(rows) > 2 && slices.Max(rows) < 2:
			return nil, fmt.Errorf("%s: %d numbers that are all 0 or 1; if this is a mask, save it as bools", path, len(rows))
		}
		return Records(rows), nil
	}
	masks, err := npy.ReadMask(path)
	if err != nil {
		return nil, err
	}
	if len(masks) != 1 {
		return nil, fmt.Errorf("%s: a mask of shape %s; it must have one entry per record", path, info)
	}
	return Mask(masks[0]), nil
}

// clipped returns the beginning of a text.
func clipped(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}

package own_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/own"
)

// write writes a file into a folder of the test's own.
func write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// rows returns a header and n lines.
func rows(header string, n int, line func(i int) string) string {
	var b strings.Builder
	b.WriteString(header + "\n")
	for i := range n {
		b.WriteString(line(i) + "\n")
	}
	return b.String()
}

// columns returns name:kind:role of every column of a table.
func columns(t *own.Table) string {
	var out []string
	for _, c := range t.Report().Columns {
		out = append(out, fmt.Sprintf("%s:%s:%s", c.Name, c.Kind, c.Role))
	}
	return strings.Join(out, " ")
}

// found returns what was found of a column.
func found(t testing.TB, table *own.Table, name string) own.FoundColumn {
	t.Helper()
	for _, c := range table.Report().Columns {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("there is no column %s:\n%s", name, table)
	return own.FoundColumn{}
}

func readTable(t testing.TB, path string, options ...own.TableOption) *own.Table {
	t.Helper()
	table, err := own.ReadTable(path, options...)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// wants checks that an error names what it is about.
func wants(t testing.TB, name string, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v\nwant %q", name, err, part)
		}
	}
}

// checksum is that of a PNG chunk.
func checksum(b []byte) []byte { return binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(b)) }

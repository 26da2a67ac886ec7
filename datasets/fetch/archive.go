// Unpacking of downloaded zip, tar and gzip archives.

package fetch

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Limits on an archive from the network.
const (
	maxArchive    = 256 << 20 // bytes of the archive beyond those of the wanted file
	maxEntries    = 1000
	maxQuotedName = 60 // bytes of a name in a message
)

// extract unpacks one member of a zip archive into the file `to`. Both are in root, and nothing is
// written outside it. The member must be a regular file of exactly the published size. An archive
// is refused if it names a path outside, has the member twice, or has too many entries; other
// entries are not unpacked.
func extract(root *os.Root, archive, member, to string, size int64) error {
	file, err := root.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	z, err := zip.NewReader(file, info.Size())
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return err
	}
	entry, err := findEntry(z.File, member)
	if err != nil {
		return err
	}
	if entry.UncompressedSize64 != uint64(size) {
		return fmt.Errorf("%q has %d bytes, the published file %d", member, entry.UncompressedSize64, size)
	}
	return unpack(root, entry, to, size)
}

// findEntry returns the entry of a member after checking the names of all entries.
func findEntry(entries []*zip.File, member string) (*zip.File, error) {
	if len(entries) > maxEntries {
		return nil, fmt.Errorf("%d entries, the limit is %d", len(entries), maxEntries)
	}
	var found *zip.File
	for _, e := range entries {
		if !safeName(e.Name) {
			return nil, fmt.Errorf("the entry %q leads out of the archive's folder", e.Name[:min(len(e.Name), maxQuotedName)])
		}
		if e.Name != member {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("the entry %q occurs twice", member)
		}
		found = e
	}
	if found == nil {
		return nil, fmt.Errorf("no entry %q", member)
	}
	if !found.Mode().IsRegular() {
		return nil, fmt.Errorf("the entry %q is not a regular file (%v)", member, found.Mode())
	}
	return found, nil
}

// safeName reports whether name stays inside the archive's folder on every operating system.
func safeName(name string) bool {
	return !strings.ContainsAny(name, "\\:\x00") && filepath.IsLocal(filepath.FromSlash(strings.TrimSuffix(name, "/")))
}

func unpack(root *os.Root, entry *zip.File, to string, size int64) error {
	from, err := entry.Open()
	if err != nil {
		return err
	}
	defer from.Close()
	return writeExactly(root, from, entry.Name, to, size)
}

// gunzip unpacks a gzip file, which must contain exactly size bytes.
func gunzip(root *os.Root, archive, to string, size int64) error {
	file, err := root.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	from, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	return writeExactly(root, from, archive, to, size)
}

// untar unpacks one member of a tar archive in gzip format into the file `to`; see extract.
func untar(root *os.Root, archive, member, to string, size int64) error {
	file, err := root.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	entries, found := tar.NewReader(plain), false
	for n := 0; ; n++ {
		e, err := entries.Next()
		if errors.Is(err, io.EOF) && found {
			return nil
		}
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("no entry %q", member)
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return err
		}
		if n == maxEntries {
			return fmt.Errorf("more than %d entries", maxEntries)
		}
		if !safeName(e.Name) {
			return fmt.Errorf("the entry %q leads out of the archive's folder", e.Name[:min(len(e.Name), maxQuotedName)])
		}
		if e.Name != member {
			continue
		}
		if err := checkTarEntry(e, size, found); err != nil {
			return err
		}
		if err := writeExactly(root, entries, e.Name, to, size); err != nil {
			return err
		}
		found = true
	}
}

// checkTarEntry checks the entry that is to be unpacked.
func checkTarEntry(e *tar.Header, size int64, found bool) error {
	if found {
		return fmt.Errorf("the entry %q occurs twice", e.Name)
	}
	if e.Typeflag != tar.TypeReg {
		return fmt.Errorf("the entry %q is not a regular file (%v)", e.Name, e.FileInfo().Mode())
	}
	if e.Size != size {
		return fmt.Errorf("%q has %d bytes, the published file %d", e.Name, e.Size, size)
	}
	return nil
}

// writeExactly copies size bytes of from into a file, and fails if there are more or fewer.
func writeExactly(root *os.Root, from io.Reader, name, to string, size int64) error {
	file, err := root.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	n, err := io.Copy(file, io.LimitReader(from, size+1))
	if err == nil && n != size {
		err = fmt.Errorf("%q unpacks to %d bytes or more, %d were announced", name, n, size)
	}
	return errors.Join(err, file.Sync(), file.Close())
}

package datasets

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// ReadFile returns the path and the decompressed bytes of one of a set's files,
// which are the published ones: their SHA-256 was compared. Loaders in other
// packages use it for files that are not Compressed.
func ReadFile(ctx context.Context, info Info, name string) (string, []byte, SourceFile, error) {
	r, err := readingOf(ctx, info)
	if err != nil {
		return "", nil, SourceFile{}, err
	}
	path, b, err := r.open(name)
	if err != nil {
		return path, nil, SourceFile{}, err
	}
	return path, b, r.sources[0], nil
}

// OpenFile opens one of a set's Compressed files, at its first byte, after its
// SHA-256 was found to be the published one. The caller closes it.
func OpenFile(ctx context.Context, info Info, name string) (*os.File, SourceFile, error) {
	r, err := readingOf(ctx, info)
	if err != nil {
		return nil, SourceFile{}, err
	}
	f, err := r.file(name)
	if err != nil {
		return nil, SourceFile{}, err
	}
	if !f.Compressed {
		return nil, SourceFile{}, fmt.Errorf("datasets: %s: %s is no compressed file", info.Name, name)
	}
	file, _, err := openCompressed(ctx, r.folder, f)
	if err != nil {
		return nil, SourceFile{}, err
	}
	return file, SourceFile{Name: f.Name, SHA256: f.SHA256, Compressed: true}, nil
}

func readingOf(ctx context.Context, info Info) (*reading, error) {
	dir, err := Dir()
	if err != nil {
		return nil, err
	}
	return &reading{ctx: ctx, info: info, folder: filepath.Join(dir, info.Folder)}, nil
}

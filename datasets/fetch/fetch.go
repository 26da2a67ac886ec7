// Package fetch downloads published data sets. It is separate from package datasets so that a
// program that only reads data, such as a notebook cell, does not link the network packages.
package fetch

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/lethe-ml/lethe/datasets"
)

// Progress receives events of a download. Any of the functions can be nil.
type Progress struct {
	// Begin is called before each address of a file is tried; info has the licence
	// and the sizes.
	Begin func(info datasets.Info, file datasets.File, source datasets.Source)

	// Bytes is called as bytes arrive; total is 0 while it is not known.
	Bytes func(done, total int64)

	// Note gets one line for every retry, change of mirror and quarantined file.
	Note func(line string)
}

func (p Progress) begin(i datasets.Info, f datasets.File, s datasets.Source) {
	if p.Begin != nil {
		p.Begin(i, f, s)
	}
}

func (p Progress) bytes(done, total int64) {
	if p.Bytes != nil {
		p.Bytes(done, total)
	}
}

func (p Progress) note(format string, args ...any) {
	if p.Note != nil {
		p.Note(fmt.Sprintf(format, args...))
	}
}

// Get downloads the published files of a data set into the folder datasets.Dir. It keeps files
// whose SHA-256 is right, tries every source of a file in turn, resumes an interrupted download,
// and gives a file its final name only after its SHA-256 was found to be the published one. It
// never deletes other bytes: it renames them to <file>.mismatch-<first 8 digits of their SHA-256>.
// If no source has the right ones, the error has both hashes.
//
// It does nothing for sets without files.
func Get(ctx context.Context, info datasets.Info, progress Progress) error {
	if len(info.Files) == 0 {
		return nil
	}
	dir, err := datasets.Dir()
	if err != nil {
		return err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = 30 * time.Second
	d := &downloader{
		client: &http.Client{Transport: transport}, progress: progress,
		attempts: 4, pause: time.Second, stall: time.Minute,
	}
	defer transport.CloseIdleConnections()
	return d.get(ctx, filepath.Join(dir, info.Folder), info)
}

// downloader holds the settings of a download, which tests replace.
type downloader struct {
	client   *http.Client
	progress Progress
	attempts int           // per source
	pause    time.Duration // before the second attempt; doubles
	stall    time.Duration // a connection without a byte for this time is given up

	archives map[string]string // address -> complete archive
}

// get downloads the missing and wrong files of a set. One process at a time works in a folder;
// others wait.
func (d *downloader) get(ctx context.Context, folder string, info datasets.Info) error {
	if complete(ctx, folder, info) {
		return nil // also where the folder cannot be written to
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("datasets: the data folder cannot be created: %w", err)
	}
	lock := flock.New(filepath.Join(folder, ".lock"))
	if _, err := lock.TryLockContext(ctx, 200*time.Millisecond); err != nil {
		return fmt.Errorf("datasets: %s: the folder cannot be locked: %w", folder, err)
	}
	defer lock.Unlock()
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fmt.Errorf("datasets: %w", err)
	}
	defer root.Close()
	d.archives = map[string]string{}
	for i, f := range info.Files {
		if err := d.file(ctx, root, info, f); err != nil {
			return err
		}
		if err := d.removeUnneededArchives(root, info.Files[i+1:]); err != nil {
			return err
		}
	}
	return nil
}

// removeUnneededArchives removes the archives that contain none of the other files.
func (d *downloader) removeUnneededArchives(root *os.Root, others []datasets.File) error {
	wanted := map[string]bool{}
	for _, f := range others {
		for _, s := range f.Sources {
			wanted[s.URL] = true
		}
	}
	for address, archive := range d.archives {
		if wanted[address] {
			continue
		}
		if err := root.Remove(archive); err != nil {
			return fmt.Errorf("datasets: %w", err)
		}
		delete(d.archives, address)
	}
	return nil
}

func complete(ctx context.Context, folder string, info datasets.Info) bool {
	for _, f := range info.Files {
		if !datasets.Status(ctx, folder, f).OK() {
			return false
		}
	}
	return true
}

// file verifies one file and downloads it if needed.
func (d *downloader) file(ctx context.Context, root *os.Root, info datasets.Info, f datasets.File) error {
	st := datasets.Status(ctx, root.Name(), f)
	for errors.Is(st.Err, datasets.ErrMismatch) { // the plain file, then its .gz copy
		if _, err := d.quarantine(root, filepath.Base(st.Path)); err != nil {
			return err
		}
		st = datasets.Status(ctx, root.Name(), f)
	}
	if !errors.Is(st.Err, datasets.ErrMissing) {
		return st.Err
	}
	if len(f.Sources) == 0 && f.Optional {
		d.progress.note("%s is missing and no address is known that publishes it; the set loads without it, or with the file with %s in %s",
			f.Name, f.Hash(), root.Name())
		return nil
	}
	if len(f.Sources) == 0 && f.Make != "" {
		return fmt.Errorf("datasets: %s: no address is known that publishes it; make the file with %s in %s, after `lethe data get %s`, by\n%s",
			f.Name, f.Hash(), root.Name(), info.Folder, f.Make)
	}
	if len(f.Sources) == 0 {
		return fmt.Errorf("datasets: %s: no address is known that publishes it; put the file with %s into %s", f.Name, f.Hash(), root.Name())
	}
	if !f.Known() {
		return fmt.Errorf("datasets: %s: no trusted source states its hash, so it is not downloaded automatically; put the file from %s into %s",
			f.Name, f.Sources[0].URL, root.Name())
	}
	var failed []string
	var last error
	for n, s := range f.Sources {
		d.progress.begin(info, f, s)
		err := d.source(ctx, root, f, s)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("datasets: %s: stopped, the part that has arrived is kept: %w", f.Name, ctx.Err())
		}
		why := fmt.Sprintf("%s: %v", s.URL, withoutURL(err))
		if failed = append(failed, why); n+1 < len(f.Sources) {
			d.progress.note("%s", why)
		}
		last = err
	}
	return &failedError{last, fmt.Sprintf("datasets: %s cannot be downloaded: %s\nPut the file with %s into %s by hand, or try again.",
		f.Name, strings.Join(failed, "; "), f.Hash(), root.Name())}
}

// failedError has two lines: why no source had a file, and what the user can do.
type failedError struct {
	last error
	text string
}

func (e *failedError) Error() string { return e.text }

func (e *failedError) Unwrap() error { return e.last }

// withoutURL returns an HTTP error without its URL, which the message prints separately.
func withoutURL(err error) error {
	var asked *url.Error
	if errors.As(err, &asked) {
		return asked.Err
	}
	return err
}

// source tries one address several times.
func (d *downloader) source(ctx context.Context, root *os.Root, f datasets.File, s datasets.Source) error {
	pause := d.pause
	for attempt := 1; ; attempt++ {
		err := d.attempt(ctx, root, f, s)
		var final *finalError
		if err == nil || errors.As(err, &final) || attempt >= d.attempts {
			return err
		}
		d.progress.note("%v; attempt %d of %d follows", withoutURL(err), attempt+1, d.attempts)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		pause *= 2
	}
}

// attempt downloads once and, if the file is complete, checks and renames it.
func (d *downloader) attempt(ctx context.Context, root *os.Root, f datasets.File, s datasets.Source) error {
	part := f.Name + ".part"
	if s.Member == "" && !s.Gzip {
		resumed, err := d.download(ctx, root, part, s.URL, f.Size, f.Limit())
		if err != nil {
			return err
		}
		return d.accept(root, part, f, resumed)
	}
	ending, open := ".zip", func(archive string) error { return extract(root, archive, s.Member, part, f.Size) }
	switch {
	case s.Gzip && s.Member != "":
		ending, open = ".tar.gz", func(archive string) error { return untar(root, archive, s.Member, part, f.Size) }
	case s.Gzip:
		ending, open = ".gz", func(archive string) error { return gunzip(root, archive, part, f.Size) }
	}
	archive, resumed, err := d.archive(ctx, root, s.URL, ending, f.Limit()+maxArchive)
	if err != nil {
		return err
	}
	if err := open(archive); err != nil {
		delete(d.archives, s.URL)
		return d.rejectArchive(root, archive, resumed, err)
	}
	return d.accept(root, part, f, false)
}

// archive downloads the archive behind a URL, once for all files in it. The name of the part file
// is derived from the address, so that a later attempt resumes it whichever file came first.
func (d *downloader) archive(ctx context.Context, root *os.Root, address, ending string, limit int64) (name string, resumed bool, err error) {
	if name = d.archives[address]; name != "" {
		return name, false, nil
	}
	hash := sha256.Sum256([]byte(address))
	name = fmt.Sprintf("archive-%x%s.part", hash[:4], ending)
	if resumed, err = d.download(ctx, root, name, address, 0, limit); err != nil {
		return "", false, err
	}
	d.archives[address] = name
	return name, resumed, nil
}

// rejectArchive quarantines an unusable archive. A resumed one may be a mix of two downloads, so
// it is worth another attempt; otherwise the error is final.
func (d *downloader) rejectArchive(root *os.Root, archive string, resumed bool, why error) error {
	aside, err := d.quarantine(root, archive)
	if err != nil {
		return &finalError{err}
	}
	why = fmt.Errorf("the archive is not usable and was kept as %s: %w", aside, why)
	if resumed {
		return why
	}
	return &finalError{why}
}

// accept gives a complete part file its name if its SHA-256 is the published one, and quarantines
// it otherwise. A resumed download may be a mix of two versions, so its mismatch is worth another
// attempt.
func (d *downloader) accept(root *os.Root, part string, f datasets.File, resumed bool) error {
	got, err := digestFile(root, part, f)
	if err != nil {
		return err
	}
	wrong := got.Check()
	if wrong == nil {
		return root.Rename(part, f.Name)
	}
	aside, err := d.quarantineAs(root, part, f.Name, got.SHA256())
	if err != nil {
		return &finalError{err}
	}
	mismatch := fmt.Errorf("%w; they were kept as %s", wrong, aside)
	if resumed {
		return mismatch
	}
	return &finalError{mismatch}
}

// quarantine renames a file with the wrong bytes.
func (d *downloader) quarantine(root *os.Root, name string) (string, error) {
	got, err := digestFile(root, name, datasets.File{})
	if err != nil {
		return "", err
	}
	return d.quarantineAs(root, name, name, got.SHA256())
}

func (d *downloader) quarantineAs(root *os.Root, from, name, hash string) (string, error) {
	aside := name + ".mismatch-" + hash[:8]
	if err := root.Rename(from, aside); err != nil {
		return "", fmt.Errorf("datasets: %s has the wrong bytes and could not be renamed: %w", filepath.Join(root.Name(), from), err)
	}
	d.progress.note("%s has SHA-256 %s, not the published one; kept as %s", name, hash, aside)
	return aside, nil
}

// finalError is an error after which another attempt at the same address is useless.
type finalError struct{ error }

func (e *finalError) Unwrap() error { return e.error }

func size(root *os.Root, name string) (int64, error) {
	info, err := root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// digestFile hashes a file and returns its Digest.
func digestFile(root *os.Root, name string, f datasets.File) (*datasets.Digest, error) {
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	d := f.Digest()
	if _, err := io.Copy(d, file); err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	return d, nil
}

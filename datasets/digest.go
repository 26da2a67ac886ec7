// Hashing of a data file, and comparison with the published hash.

package datasets

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
)

// Digest hashes the bytes of a File and reports whether they are the published ones.
type Digest struct {
	f        File
	sha, md5 hash.Hash
	n        int64
}

// Digest returns a new Digest of f.
func (f File) Digest() *Digest { return &Digest{f: f, sha: sha256.New(), md5: md5.New()} }

// Write implements io.Writer; it never fails.
func (d *Digest) Write(b []byte) (int, error) {
	d.sha.Write(b)
	if d.f.byMD5() {
		d.md5.Write(b)
	}
	d.n += int64(len(b))
	return len(b), nil
}

// SHA256 returns the SHA-256 of the bytes, in hex.
func (d *Digest) SHA256() string { return hex.EncodeToString(d.sha.Sum(nil)) }

// Check returns ErrMismatch unless the bytes are the published ones or those of an Alternate. If
// no hash of the file is known, it accepts any bytes within the size limit.
func (d *Digest) Check() error {
	sha := d.SHA256()
	if d.f.SHA256 == sha || slices.ContainsFunc(d.f.Alternates, func(t Alternate) bool { return t.SHA256 == sha }) {
		return nil
	}
	if d.f.byMD5() {
		got := hex.EncodeToString(d.md5.Sum(nil))
		if got == d.f.MD5 {
			return nil
		}
		return fmt.Errorf("%w: the file has the MD5 %s, the published one %s (%d of %d bytes read)", ErrMismatch, got, d.f.MD5, d.n, d.f.Limit())
	}
	if !d.f.Known() && d.n <= d.f.Limit() {
		return nil
	}
	return fmt.Errorf("%w: the file has %s, the published one %s (%d of %d bytes read)", ErrMismatch, sha, d.f.Hash(), d.n, d.f.Limit())
}

func (f File) byMD5() bool { return f.SHA256 == "" && f.MD5 != "" }

// Known reports whether a hash of the published file is known.
func (f File) Known() bool { return f.SHA256 != "" || f.MD5 != "" }

// Hash returns the name and the value of the published file's hash, as text.
func (f File) Hash() string {
	switch {
	case f.SHA256 != "":
		return "SHA-256 " + f.SHA256
	case f.MD5 != "":
		return "MD5 " + f.MD5
	}
	return "a hash that is not known"
}

// howToGet returns how a user gets a missing file, as text for an error.
func (f File) howToGet() string {
	if len(f.Sources) > 0 && f.Known() {
		return "`lethe data get` downloads it"
	}
	if f.Make != "" {
		return "make it there by `" + f.Make + "` (`lethe data get` says from what)"
	}
	return "put it there by hand; `lethe data get` prints the address if one is known"
}

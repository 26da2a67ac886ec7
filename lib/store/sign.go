// Signed lists of a store's runs (Ed25519).

package store

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/store/internal/disk"
)

// signedName is the file with the signed list of a store's runs. Hashes guard against
// damage only: a person who can write to a store can change a file together with its
// manifest. A signature guards against that, as long as its key is secret.
const signedName = "signed.json"

// Signed is a list of runs whose signature was verified.
type Signed struct {
	manifests map[string]string // ID -> SHA-256 of its manifest
}

// signedFile is the content of the signed list's file.
type signedFile struct {
	Format    int         `json:"format"`
	Runs      []signedRun `json:"runs"` // sorted by ID
	Signature []byte      `json:"signature"`
}

type signedRun struct {
	ID       string `json:"id"`
	Manifest string `json:"manifest"` // SHA-256 of manifest.json
}

// message returns what is signed: a header line, then a line with ID and hash for each run.
func (f signedFile) message() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "lethe store %d\n", f.Format)
	for _, r := range f.Runs {
		fmt.Fprintf(&b, "%s %s\n", r.ID, r.Manifest)
	}
	return []byte(b.String())
}

// Sign verifies every finished run and writes the signed list of them, which replaces the
// former one. It returns the number of runs. A damaged run is an error, and nothing is
// signed then.
func (s *Store) Sign(key ed25519.PrivateKey) (int, error) {
	entries, err := s.List()
	if err != nil {
		return 0, err
	}
	f := signedFile{Format: manifestFormat}
	for _, e := range entries {
		switch e.State {
		case Damaged:
			return 0, fmt.Errorf("store: nothing is signed: %s", e.Problem)
		case Finished:
			if err := s.Verify(e.ID); err != nil {
				return 0, fmt.Errorf("store: nothing is signed: %w", err)
			}
			sum, err := s.manifestSum(e.ID)
			if err != nil {
				return 0, err
			}
			f.Runs = append(f.Runs, signedRun{e.ID, sum})
		}
	}
	slices.SortFunc(f.Runs, func(a, b signedRun) int { return strings.Compare(a.ID, b.ID) })
	f.Signature = ed25519.Sign(key, f.message())
	b, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return 0, err
	}
	if err := disk.Replace(s.fs, filepath.Join(s.dir, signedName), append(b, '\n')); err != nil {
		return 0, fmt.Errorf("store %s cannot be written: %w", s.dir, err)
	}
	return len(f.Runs), nil
}

// manifestSum returns the SHA-256 of a run's manifest.
func (s *Store) manifestSum(id string) (string, error) {
	m, err := s.runManifest(id)
	if err != nil {
		return "", err
	}
	b, err := m.encode() // the only bytes that readManifest accepts
	return digest(b), err
}

// Signed reads the signed list and verifies its signature. An older list of the same signer
// passes too.
func (s *Store) Signed(key ed25519.PublicKey) (*Signed, error) {
	path := filepath.Join(s.dir, signedName)
	b, err := disk.ReadFile(path, maxTextBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("store %s is not signed: there is no %s", s.dir, path)
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	var f signedFile
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, fmt.Errorf("store: %s: %w", path, err)
	}
	if !ed25519.Verify(key, f.message(), f.Signature) {
		return nil, fmt.Errorf("store: %s: the signature is not one of this key for this list", path)
	}
	out := &Signed{manifests: map[string]string{}}
	for _, r := range f.Runs {
		out.manifests[r.ID] = r.Manifest
	}
	return out, nil
}

// IDs returns the signed runs, sorted.
func (l *Signed) IDs() []string {
	var ids []string
	for id := range l.manifests {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// VerifySigned is Verify for a run that must also be in the list.
func (s *Store) VerifySigned(id string, l *Signed) error {
	if err := s.Verify(id); err != nil {
		return err
	}
	want, listed := l.manifests[id]
	if !listed {
		return fmt.Errorf("store: run %s is not in the signed list", id)
	}
	found, err := s.manifestSum(id)
	if err == nil && found != want {
		err = fmt.Errorf("%w: %s: signed was a manifest with SHA-256 %s, found %s", ErrDamaged, filepath.Join(s.runDir(id), manifestName), want, found)
	}
	return err
}

// PrivateKey parses an Ed25519 private key in PEM (PKCS #8), as written by
//
//	openssl genpkey -algorithm ed25519 -out key.pem
func PrivateKey(text []byte) (ed25519.PrivateKey, error) {
	block, err := pemBlock(text, "PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(block)
	if err != nil {
		return nil, err
	}
	private, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("expected an Ed25519 key, found %T", key)
	}
	return private, nil
}

// PublicKey parses an Ed25519 public key in PEM, as written by
//
//	openssl pkey -in key.pem -pubout -out public.pem
//
// It also accepts a private key and returns its public half.
func PublicKey(text []byte) (ed25519.PublicKey, error) {
	if private, err := PrivateKey(text); err == nil {
		return private.Public().(ed25519.PublicKey), nil
	}
	block, err := pemBlock(text, "PUBLIC KEY")
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKIXPublicKey(block)
	if err != nil {
		return nil, err
	}
	public, ok := key.(ed25519.PublicKey)
	if !ok {
		return nil, fmt.Errorf("expected an Ed25519 key, found %T", key)
	}
	return public, nil
}

func pemBlock(text []byte, kind string) ([]byte, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("expected a PEM block %q, found none", kind)
	}
	if block.Type != kind {
		return nil, fmt.Errorf("expected a PEM block %q, found %q", kind, block.Type)
	}
	return block.Bytes, nil
}

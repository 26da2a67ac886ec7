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

// signedName is the signed list of a store's runs. Hashes alone guard against
// damage: whoever can write to a store can change a file and its manifest
// together. A signature guards against that, as far as its key is kept.
const signedName = "signed.json"

// Signed is a list of runs whose signature was checked.
type Signed struct {
	manifests map[string]string // ID -> SHA-256 of its manifest
}

// signedFile is what lies in the store.
type signedFile struct {
	Format    int         `json:"format"`
	Runs      []signedRun `json:"runs"` // sorted by ID
	Signature []byte      `json:"signature"`
}

type signedRun struct {
	ID       string `json:"id"`
	Manifest string `json:"manifest"` // SHA-256 of manifest.json
}

// message is what is signed: a line that says what this is, then a line with
// ID and hash for each run.
func (f signedFile) message() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "lethe store %d\n", f.Format)
	for _, r := range f.Runs {
		fmt.Fprintf(&b, "%s %s\n", r.ID, r.Manifest)
	}
	return []byte(b.String())
}

// Sign verifies every finished run and writes the signed list of them, in the
// place of the former one. It returns how many runs there are. A damaged run is
// an error: what was not verified is not signed.
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

// manifestSum hashes a run's manifest.
func (s *Store) manifestSum(id string) (string, error) {
	m, err := s.runManifest(id)
	if err != nil {
		return "", err
	}
	b, err := m.encode() // the only bytes that readManifest accepts
	return digest(b), err
}

// Signed reads the signed list and checks its signature. It does not tell an
// older list of the same signer from the newest.
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

// PrivateKey reads an Ed25519 key as PKCS #8 in PEM, which is what
//
//	openssl genpkey -algorithm ed25519 -out key.pem
//
// writes.
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

// PublicKey reads an Ed25519 public key in PEM, which is what
//
//	openssl pkey -in key.pem -pubout -out public.pem
//
// writes, or takes the public half of a private one.
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

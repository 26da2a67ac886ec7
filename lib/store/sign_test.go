// Tests of sign.go.

package store

import (
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Made with OpenSSL 3.0.19: genpkey -algorithm ed25519, pkey -pubout, and for the
// other ecparam -name prime256v1 with pkcs8 -topk8. They are for these tests.
const (
	opensslPrivate = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIIuxbi/idz3cyiz/N0faqvgPUkiz8iJzam6yLol7Hhlg
-----END PRIVATE KEY-----
`
	opensslPublic = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAyiBw2sKJth1Dl7NgCAoWJsK2jXg/3cEekIGVN2oUnPU=
-----END PUBLIC KEY-----
`
	opensslOther = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg21XFxvfDWp/0eodS
WqoCXg1suTwAl+E0LI8qKjXXhcChRANCAARfm/rNIUNVkMJiQQ29ZG7kPB55/pyw
0TTqSfERblc1NN02/pfHOhW8G4tVRcGC5CbZ0EuZyGEoOK2A07jUWS0W
-----END PRIVATE KEY-----
`
)

func keys(t *testing.T) (ed25519.PrivateKey, ed25519.PublicKey) {
	t.Helper()
	private, err := PrivateKey([]byte(opensslPrivate))
	if err != nil {
		t.Fatal(err)
	}
	public, err := PublicKey([]byte(opensslPublic))
	if err != nil {
		t.Fatal(err)
	}
	return private, public
}

func TestKeysOfOpenSSLAreReadAndOthersRefused(t *testing.T) {
	private, public := keys(t)
	if !public.Equal(private.Public()) {
		t.Error("the two halves are not of one key")
	}
	if half, err := PublicKey([]byte(opensslPrivate)); err != nil || !half.Equal(public) {
		t.Errorf("public half: %v, %v", half, err)
	}
	for text, want := range map[string]string{"": "found none", "nonsense": "found none", opensslPublic: `found "PUBLIC KEY"`,
		opensslOther: "expected an Ed25519 key"} {
		if _, err := PrivateKey([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
	if _, err := PublicKey([]byte("nonsense")); err == nil || !strings.Contains(err.Error(), "PUBLIC KEY") {
		t.Error(err)
	}
}

// forge changes a file of a run and its manifest, as somebody would who knows
// this package: no hash tells.
func forge(t *testing.T, s *Store, run *Run) {
	t.Helper()
	m, err := s.runManifest(run.ID)
	if err != nil {
		t.Fatal(err)
	}
	b := []byte("2\n")
	for i, f := range m.Files {
		if f.Name == "log.jsonl" {
			m.Files[i] = fileRecord{f.Name, int64(len(b)), digest(b)}
		}
	}
	text, err := m.encode()
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(os.WriteFile(filepath.Join(run.Dir, "log.jsonl"), b, 0o644), os.WriteFile(filepath.Join(run.Dir, manifestName), text, 0o644))
	if err != nil {
		t.Fatal(err)
	}
}

func TestForgeryIsFoundBySignatureOnly(t *testing.T) {
	s := open(t)
	private, public := keys(t)
	if _, err := s.Signed(public); err == nil || !strings.Contains(err.Error(), "not signed") {
		t.Error(err)
	}
	a, b := do(t, s, Key{Recipe: "a"}, writeSmall), do(t, s, Key{Recipe: "b"}, writeSmall)
	if n, err := s.Sign(private); err != nil || n != 2 {
		t.Fatal(n, err)
	}
	late := do(t, s, Key{Recipe: "late"}, writeSmall)
	forge(t, s, b)
	list, err := s.Signed(public)
	if err != nil || len(list.IDs()) != 2 {
		t.Fatal(list, err)
	}
	if err := s.VerifySigned(a.ID, list); err != nil {
		t.Error(err)
	}
	if err := s.VerifySigned(late.ID, list); err == nil || !strings.Contains(err.Error(), "not in the signed list") {
		t.Error(err)
	}
	if err := s.Verify(b.ID); err != nil {
		t.Errorf("the forgery is not a good one: %v", err)
	}
	if err := s.VerifySigned(b.ID, list); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), b.Dir) {
		t.Errorf("the forgery is not found: %v", err)
	}
}

func TestChangedListAndAnotherKeyAreRefused(t *testing.T) {
	s := open(t)
	private, public := keys(t)
	run := do(t, s, Key{Recipe: "a"}, writeSmall)
	if _, err := s.Sign(private); err != nil {
		t.Fatal(err)
	}
	other, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.Dir(), signedName)
	if _, err := s.Signed(other); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("another key: %v", err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(b), run.ID, digest(nil), 1)
	for _, text := range []string{changed, "{}", "", "null"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Signed(public); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func TestDamagedStoreIsNotSigned(t *testing.T) {
	s := populated(t)
	private, _ := keys(t)
	if _, err := s.Sign(private); err == nil || !strings.Contains(err.Error(), "nothing is signed") {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(s.Dir(), signedName)); err == nil {
		t.Error("signed all the same")
	}
}

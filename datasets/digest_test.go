package datasets

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

func TestADigestKnowsThePublishedBytes(t *testing.T) {
	good, other := []byte("published"), []byte("something else")
	sum := md5.Sum(good)
	bySHA, byMD5, unknown := File{Size: 9, SHA256: digest(good)}, File{AtMost: 99, MD5: hex.EncodeToString(sum[:])}, File{AtMost: 10}
	for _, c := range []struct {
		f    File
		b    []byte
		want string
	}{
		{bySHA, good, ""}, {bySHA, other, digest(other) + ", the published one SHA-256 " + digest(good)},
		{byMD5, good, ""}, {byMD5, other, "the published one " + byMD5.MD5},
		{unknown, good, ""}, {unknown, other, "the published one a hash that is not known (14 of 10 bytes read)"},
	} {
		d := c.f.Digest()
		d.Write(c.b[:3])
		d.Write(c.b[3:])
		err := d.Check()
		if d.SHA256() != digest(c.b) || c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrMismatch) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v of %q: %v", c.f, c.b, err)
		}
	}
	if !bySHA.Known() || !byMD5.Known() || unknown.Known() || byMD5.Hash() != "MD5 "+byMD5.MD5 {
		t.Error("what is known of a file")
	}
}

func TestAMissingFileSaysHowItGetsThere(t *testing.T) {
	from := []Source{{URL: "https://example.org"}}
	for want, f := range map[string]File{
		"`lethe data get` downloads it": {MD5: "x", Sources: from},
		"by hand":                       {SHA256: "x"},
		"by hand; `lethe data get`":     {AtMost: 1, Sources: from},
	} {
		if err := missingFileError(f, "a.txt"); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

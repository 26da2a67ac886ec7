package store

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzManifest reads a run's manifest and the configuration in its key from
// arbitrary bytes. Whatever is accepted is exactly what is written again, and
// its key still names the run.
func FuzzManifest(f *testing.F) {
	key, err := Key{Recipe: "train", Config: map[string]any{"lr": 1e-3, "epochs": 50}, Seeds: map[string]int64{"train": 3}, Data: map[string]string{"toy": "00"}, Engine: "go/scalar", Results: 1}.canonical()
	if err != nil {
		f.Fatal(err)
	}
	good, err := manifest{Format: manifestFormat, ID: digest(key), Key: key, Files: []fileRecord{{Name: "weights.safetensors", Size: 12, SHA256: digest([]byte("x"))}}}.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, digest(key))
	f.Add(good[:len(good)/2], digest(key))
	f.Add(bytes.Replace(good, []byte("weights"), []byte("../../w"), 1), digest(key))
	f.Add([]byte(`{"format":1,"key":null}`), digest([]byte("null")))
	f.Add([]byte(`{"format":1,"key":{"config":[1e999]}}`), "")
	f.Fuzz(func(t *testing.T, b []byte, id string) {
		m, err := decodeManifest(b, id)
		if err != nil {
			return
		}
		again, err := m.encode()
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("accepted bytes that are not written again: %v", err)
		}
		k, err := decodeKey(m.Key)
		if err != nil {
			return // a run whose key is no Key is refused by newRun
		}
		if c, err := json.Marshal(k.Config); err != nil || !json.Valid(c) {
			t.Fatalf("the configuration of an accepted key cannot be printed: %v", err)
		}
	})
}

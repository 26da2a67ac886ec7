// The bill of materials of a release, in CycloneDX 1.5.

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"

	"github.com/lethe-ml/lethe/lib/files"
)

type object = map[string]any

// billOfMaterials returns the bill of materials of a binary: CycloneDX 1.5. The serial number is
// derived from the binary's hash, so the same binary has the same bill.
func billOfMaterials(version, binary string, info *debug.BuildInfo, modules []module) ([]byte, error) {
	hash, err := hashOf(binary)
	if err != nil {
		return nil, err
	}
	main := module{Path: info.Main.Path, Version: version}
	var components []object
	var refs []string
	for _, m := range modules {
		refs = append(refs, m.purl())
		c := object{"type": "library", "bom-ref": m.purl(), "name": m.Path, "version": m.Version, "purl": m.purl(), "licenses": m.licenceIDs()}
		if m.Sum != "" {
			c["properties"] = []object{{"name": "go:sum", "value": m.Sum}}
		}
		components = append(components, c)
	}
	properties := []object{{"name": "go:version", "value": info.GoVersion}}
	for _, s := range info.Settings {
		if s.Key == "GOOS" || s.Key == "GOARCH" {
			properties = append(properties, object{"name": "go:" + s.Key, "value": s.Value})
		}
	}
	return json.MarshalIndent(object{
		"$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"serialNumber": "urn:uuid:" + uuid(hash),
		"metadata": object{"component": object{
			"type": "application", "bom-ref": main.purl(), "name": filepath.Base(binary), "version": version, "purl": main.purl(),
			"licenses": []object{{"license": object{"id": "Apache-2.0"}}}, "hashes": []object{{"alg": "SHA-256", "content": hex.EncodeToString(hash)}},
			"properties": properties,
		}},
		"components":   components,
		"dependencies": []object{{"ref": main.purl(), "dependsOn": refs}},
	}, "", " ")
}

// uuid returns a UUID of version 8, whose bits are free (RFC 9562).
func uuid(hash []byte) string {
	b := [16]byte(hash)
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func hashOf(path string) ([]byte, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return h.Sum(nil), err
}

// Encoding: the same content always gives the same bytes.

package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

// Encode returns the bytes of f. Equal content gives equal bytes, whatever the order of
// f.Tensors. The layout is that of the reference implementation: wide elements first, then
// by name, the header padded with spaces to 8 bytes.
func Encode(f *File) ([]byte, error) {
	tensors := slices.Clone(f.Tensors)
	sortByName(tensors)
	if err := checkTensors(tensors); err != nil {
		return nil, err
	}
	slices.SortStableFunc(tensors, func(a, b Tensor) int {
		return cmp.Compare(slices.Index(layoutOrder, b.DType), slices.Index(layoutOrder, a.DType))
	})
	head, total, err := encodeHeader(tensors, f.Metadata)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, lengthBytes+len(head)+total)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(head)))
	out = append(out, head...)
	for _, t := range tensors {
		out = append(out, t.Data...)
	}
	return out, nil
}

// checkTensors refuses tensors that a reader would refuse. They are sorted by name.
func checkTensors(tensors []Tensor) error {
	for i, t := range tensors {
		if t.Name == metadataKey || !utf8.ValidString(t.Name) {
			return fmt.Errorf("%w: %q", ErrName, t.Name)
		}
		if i > 0 && t.Name == tensors[i-1].Name {
			return fmt.Errorf("%w: tensor %q", ErrDuplicateKey, t.Name)
		}
		want, err := byteSize(t.DType, t.Shape)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", t.Name, err)
		}
		if len(t.Data) != want {
			return fmt.Errorf("tensor %q: %w: %v of %s needs %d bytes, found %d", t.Name, ErrSize, t.Shape, t.DType, want, len(t.Data))
		}
	}
	return nil
}

// tensorInfo is a tensor's entry in the header.
type tensorInfo struct {
	DType   DType  `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// encodeHeader returns the padded header and the length of the buffer.
func encodeHeader(tensors []Tensor, metadata map[string]string) (head []byte, total int, err error) {
	var fields []field
	if len(metadata) > 0 {
		for _, key := range slices.Sorted(maps.Keys(metadata)) {
			if !utf8.ValidString(key) || !utf8.ValidString(metadata[key]) {
				return nil, 0, fmt.Errorf("%w: key %q is not valid UTF-8", ErrMetadata, key)
			}
		}
		fields = append(fields, field{metadataKey, metadata})
	}
	for _, t := range tensors {
		shape := append([]int{}, t.Shape...) // a nil shape must print as []
		fields = append(fields, field{t.Name, tensorInfo{t.DType, shape, [2]int{total, total + len(t.Data)}}})
		total += len(t.Data)
	}
	head, err = encodeObject(fields)
	if err != nil {
		return nil, 0, err
	}
	if len(head) > MaxHeader {
		return nil, 0, fmt.Errorf("%w: %d bytes, at most %d are allowed", ErrHeaderTooLarge, len(head), MaxHeader)
	}
	return head, total, nil
}

// field is one key of the header with its value.
type field struct {
	key   string
	value any
}

// encodeObject prints the fields in the order given, padded to 8 bytes.
func encodeObject(fields []field) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	value := func(v any) error {
		err := enc.Encode(v)
		out.Truncate(max(0, out.Len()-1)) // Encode adds a line end
		return err
	}
	out.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := value(f.key); err != nil {
			return nil, err
		}
		out.WriteByte(':')
		if err := value(f.value); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	for out.Len()%8 != 0 {
		out.WriteByte(' ')
	}
	return out.Bytes(), nil
}

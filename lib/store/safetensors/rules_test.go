// Every rule of the format has a file that breaks it.

package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

// raw makes a file of a header and a buffer of n bytes.
func raw(header string, n int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, n)...)
}

// refuse fails unless Decode refuses b with the rule and the text.
func refuse(t *testing.T, b []byte, rule error, text string) {
	t.Helper()
	_, err := Decode(b)
	if !errors.Is(err, rule) || !strings.Contains(err.Error(), text) {
		t.Errorf("found %v, expected %v with %q", err, rule, text)
	}
}

func TestSmallestFileIsAccepted(t *testing.T) {
	f, err := Decode(raw("{}", 0))
	if err != nil || len(f.Tensors) != 0 || f.Metadata != nil {
		t.Error(f, err)
	}
}

func TestFileShorterThanTheLengthIsRefused(t *testing.T) {
	for n := range 8 {
		refuse(t, make([]byte, n), ErrTooShort, "expected at least 8 bytes")
	}
}

func TestHeaderOverTheLimitIsRefused(t *testing.T) {
	for _, n := range []uint64{MaxHeader + 1, math.MaxInt64, math.MaxUint64} {
		refuse(t, binary.LittleEndian.AppendUint64(nil, n), ErrHeaderTooLarge, "at most 100000000")
	}
	refuse(t, binary.LittleEndian.AppendUint64(nil, MaxHeader), ErrHeaderBeyondFile, "")
}

func TestHeaderBeyondTheFileIsRefused(t *testing.T) {
	b := raw("{}", 0)
	b[0]++
	refuse(t, b, ErrHeaderBeyondFile, "header of 3 bytes, but only 2 follow")
}

func TestHeaderMustStartWithABrace(t *testing.T) {
	refuse(t, raw("", 0), ErrHeaderStart, "empty")
	refuse(t, raw(" {}", 0), ErrHeaderStart, "0x20")
	refuse(t, raw("[]", 0), ErrHeaderStart, "0x5b")
}

func TestHeaderMustBeUTF8(t *testing.T) {
	refuse(t, raw("{\"\xff\":{}}", 0), ErrHeaderUTF8, "")
}

func TestHeaderMustBeOneJSONObject(t *testing.T) {
	for _, header := range []string{`{`, `{"a"}`, `{}{}`, `{} x`, `{"a":{"dtype":"U8","shape":[1,],"data_offsets":[0,1]}}`} {
		refuse(t, raw(header, 1), ErrHeaderJSON, "header byte")
	}
	refuse(t, raw(`{"a":3}`, 0), ErrHeaderJSON, `tensor "a"`)
	refuse(t, raw(`{"a":null}`, 0), ErrHeaderJSON, `tensor "a"`)
}

func TestSpacesAfterTheHeaderAreAccepted(t *testing.T) {
	if _, err := Decode(raw("{}      ", 0)); err != nil {
		t.Error(err)
	}
}

func TestDuplicateKeysAreRefusedAtEveryLevel(t *testing.T) {
	one := `{"dtype":"U8","shape":[1],"data_offsets":[0,1]}`
	refuse(t, raw(`{"a":`+one+`,"a":`+one+`}`, 1), ErrDuplicateKey, `"a"`)
	refuse(t, raw(`{"a":`+one+`,"\u0061":`+one+`}`, 1), ErrDuplicateKey, `"a"`)
	refuse(t, raw(`{"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1), ErrDuplicateKey, `"dtype"`)
	refuse(t, raw(`{"__metadata__":{"k":"1","k":"2"}}`, 0), ErrDuplicateKey, `"k"`)
	refuse(t, raw(`{"__metadata__":{},"__metadata__":{}}`, 0), ErrDuplicateKey, "__metadata__")
}

func TestMetadataMustMapStringsToStrings(t *testing.T) {
	for _, metadata := range []string{`3`, `["a"]`, `{"k":1}`, `{"k":null}`, `{"k":{}}`, `null`} {
		refuse(t, raw(`{"__metadata__":`+metadata+`}`, 0), ErrMetadata, "")
	}
}

func TestFieldsMustBeThoseOfTheFormat(t *testing.T) {
	refuse(t, raw(`{"a":{"shape":[1],"data_offsets":[0,1]}}`, 1), ErrField, `"dtype" is missing`)
	refuse(t, raw(`{"a":{"dtype":"U8","data_offsets":[0,1]}}`, 1), ErrField, `"shape" is missing`)
	refuse(t, raw(`{"a":{"dtype":"U8","shape":[1]}}`, 1), ErrField, `"data_offsets" is missing`)
	refuse(t, raw(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1}}`, 1), ErrField, `"x" is unknown`)
}

func TestUnknownElementTypeIsRefused(t *testing.T) {
	refuse(t, raw(`{"a":{"dtype":"F31","shape":[1],"data_offsets":[0,1]}}`, 1), ErrDType, `"F31"`)
	refuse(t, raw(`{"a":{"dtype":"f32","shape":[1],"data_offsets":[0,4]}}`, 4), ErrDType, `"f32"`)
	refuse(t, raw(`{"a":{"dtype":7,"shape":[1],"data_offsets":[0,4]}}`, 4), ErrDType, "found 7")
}

func TestNegativeOrBrokenDimensionIsRefused(t *testing.T) {
	for shape, text := range map[string]string{`[-1]`: "-1", `[-1,-1]`: "-1", `[1.0]`: "1.0", `[1e0]`: "1e0", `["1"]`: "found 1", `1`: "expected '['", `null`: "expected '['"} {
		refuse(t, raw(`{"a":{"dtype":"U8","shape":`+shape+`,"data_offsets":[0,1]}}`, 1), ErrShape, text)
	}
}

func TestOverflowingShapeIsRefused(t *testing.T) {
	for _, shape := range []string{
		`[4294967296,4294967296]`,         // product 2^64, which wraps to 0
		`[9223372036854775807]`,           // times 4 bytes
		`[4611686018427387904]`,           // times 4 bytes is 2^64
		`[9223372036854775807,3,0]`,       // overflows before the zero
		`[99999999999999999999999999999]`, // fits no integer
		`[9223372036854775808]`,           // fits no int
	} {
		refuse(t, raw(`{"a":{"dtype":"F32","shape":`+shape+`,"data_offsets":[0,0]}}`, 0), ErrOverflow, `tensor "a"`)
	}
}

func TestOffsetsMustBeAPairInOrder(t *testing.T) {
	for _, offsets := range []string{`[1,0]`, `[0]`, `[0,1,2]`, `[]`, `[-1,0]`, `"0,1"`, `[0,1.5]`} {
		refuse(t, raw(`{"a":{"dtype":"U8","shape":[1],"data_offsets":`+offsets+`}}`, 1), ErrOffsets, `tensor "a"`)
	}
	refuse(t, raw(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,18446744073709551616]}}`, 1), ErrOverflow, "18446744073709551616")
}

func TestTensorBeyondTheBufferIsRefused(t *testing.T) {
	refuse(t, raw(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 1), ErrOutsideBuffer, "it ends at 2, the buffer at 1")
}

func TestByteRangeMustFitShapeAndType(t *testing.T) {
	refuse(t, raw(`{"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,23]}}`, 23), ErrSize, "[2 3] of F32 needs 24 bytes, found 23")
}

func TestHoleBetweenTensorsIsRefused(t *testing.T) {
	refuse(t, raw(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}}`, 3), ErrHole, `tensor "b"`)
	refuse(t, raw(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2), ErrHole, "bytes 0 to 1")
}

func TestOverlappingTensorsAreRefused(t *testing.T) {
	refuse(t, raw(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, 3), ErrOverlap, `tensor "b"`)
	refuse(t, raw(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 2), ErrOverlap, `tensor "b"`)
	refuse(t, raw(`{"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"z":{"dtype":"U8","shape":[0],"data_offsets":[1,1]}}`, 3), ErrOverlap, `tensor "z"`)
}

func TestBytesAfterTheLastTensorAreRefused(t *testing.T) {
	refuse(t, raw(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 2), ErrNotCovered, "tensors end at 1, the buffer at 2")
	refuse(t, raw(`{}`, 1), ErrNotCovered, "")
}

func TestEveryTruncationIsRefused(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "python.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	for n := range b {
		if _, err := Decode(b[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are accepted", n, len(b))
		}
	}
}

func TestReadErrorsNameTheFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "bad.safetensors")
	if err := os.WriteFile(path, raw(`{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 0), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Read(path)
	if !errors.Is(err, ErrOutsideBuffer) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), `"w"`) {
		t.Error(err)
	}
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "expected a regular file") {
		t.Error(err)
	}
	if _, err := Read(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestWriterRefusesWhatAReaderWould(t *testing.T) {
	one := FromUint8("a", []int{1}, []uint8{1})
	cases := []struct {
		file File
		rule error
	}{
		{File{Tensors: []Tensor{one, one}}, ErrDuplicateKey},
		{File{Tensors: []Tensor{{Name: "__metadata__", DType: U8, Shape: []int{0}}}}, ErrName},
		{File{Tensors: []Tensor{{Name: "\xff", DType: U8, Shape: []int{0}}}}, ErrName},
		{File{Tensors: []Tensor{{Name: "a", DType: "F4", Shape: []int{0}}}}, ErrDType},
		{File{Tensors: []Tensor{{Name: "a", DType: U8, Shape: []int{-1}}}}, ErrShape},
		{File{Tensors: []Tensor{{Name: "a", DType: U8, Shape: []int{math.MaxInt, 2}}}}, ErrOverflow},
		{File{Tensors: []Tensor{{Name: "a", DType: F32, Shape: []int{1}, Data: []byte{1}}}}, ErrSize},
		{File{Metadata: map[string]string{"k": "\xff"}}, ErrMetadata},
	}
	for _, c := range cases {
		if _, err := Encode(&c.file); !errors.Is(err, c.rule) {
			t.Errorf("found %v, expected %v", err, c.rule)
		}
	}
}

// TestAFileIsSeenToBeWrongBeforeItIsRead makes files of a gigabyte of which nothing is
// on the disk, and reads them from something that fails behind the header.
func TestAFileIsSeenToBeWrongBeforeItIsRead(t *testing.T) {
	for header, rule := range map[string]error{
		"{}": ErrNotCovered,
		`{"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}}`:                                                                       ErrNotCovered,
		`{"a":{"dtype":"U8","shape":[1073741824],"data_offsets":[0,2]}}`:                                                              ErrSize,
		`{"a":{"dtype":"F64","shape":[1073741824],"data_offsets":[0,8589934592]}}`:                                                    ErrOutsideBuffer,
		`{"a":{"dtype":"U8","shape":[1073741824],"data_offsets":[0,1073741824]}}`:                                                     errUnexpected,
		`{"a":{"dtype":"U8","shape":[1073741824],"data_offsets":[0,1073741824]},"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`: ErrOverlap,
	} {
		b := raw(header, 0)
		from := io.MultiReader(bytes.NewReader(b), iotest.ErrReader(errors.New("the tensors were read")))
		if _, err := readFrom(from, len(b)+1<<30, func(*File) error { return errUnexpected }); !errors.Is(err, rule) {
			t.Errorf("%s: %v", header, err)
		}
	}
}

var errUnexpected = errors.New("not expected")

package safetensors

import "errors"

// The rules of the format. An error that Decode, Encode or an accessor returns
// wraps one of these; the text around it names the tensor and the values.
var (
	// ErrTooShort: the file cannot even hold the 8-byte header length.
	ErrTooShort = errors.New("safetensors: file is too short for a header length")
	// ErrHeaderTooLarge: the header is longer than MaxHeader.
	ErrHeaderTooLarge = errors.New("safetensors: header is too large")
	// ErrHeaderBeyondFile: the header length points behind the end of the file.
	ErrHeaderBeyondFile = errors.New("safetensors: header reaches beyond the file")
	// ErrHeaderStart: the header does not start with '{'.
	ErrHeaderStart = errors.New("safetensors: header does not start with '{'")
	// ErrHeaderUTF8: the header is not valid UTF-8.
	ErrHeaderUTF8 = errors.New("safetensors: header is not valid UTF-8")
	// ErrHeaderJSON: the header is not JSON of the expected form.
	ErrHeaderJSON = errors.New("safetensors: invalid JSON header")
	// ErrDuplicateKey: a key occurs twice in one object of the header.
	ErrDuplicateKey = errors.New("safetensors: duplicate key")
	// ErrMetadata: the metadata do not map strings to strings.
	ErrMetadata = errors.New("safetensors: metadata must map strings to strings")
	// ErrField: a tensor has an unknown field, or lacks one.
	ErrField = errors.New("safetensors: wrong tensor field")
	// ErrDType: the element type is unknown or does not fill whole bytes.
	ErrDType = errors.New("safetensors: unknown element type")
	// ErrShape: a dimension is negative or not a whole number.
	ErrShape = errors.New("safetensors: invalid shape")
	// ErrOverflow: a dimension, offset or the tensor's size does not fit an int.
	ErrOverflow = errors.New("safetensors: number overflows")
	// ErrOffsets: data_offsets is not a pair with begin <= end.
	ErrOffsets = errors.New("safetensors: invalid offsets")
	// ErrOutsideBuffer: a tensor's bytes reach beyond the buffer.
	ErrOutsideBuffer = errors.New("safetensors: tensor reaches beyond the buffer")
	// ErrSize: the byte range is not shape x element size.
	ErrSize = errors.New("safetensors: byte range does not fit shape and element type")
	// ErrHole: bytes between two tensors belong to none.
	ErrHole = errors.New("safetensors: hole in the buffer")
	// ErrOverlap: two tensors share bytes.
	ErrOverlap = errors.New("safetensors: tensors overlap")
	// ErrNotCovered: bytes after the last tensor belong to none.
	ErrNotCovered = errors.New("safetensors: tensors do not cover the buffer")
	// ErrName: a tensor to be written has a reserved or invalid name.
	ErrName = errors.New("safetensors: invalid tensor name")
	// ErrNoTensor: the file has no tensor of that name.
	ErrNoTensor = errors.New("safetensors: no such tensor")
	// ErrWrongDType: an accessor was used on a tensor of another element type.
	ErrWrongDType = errors.New("safetensors: tensor has another element type")
	// ErrBool: a BOOL tensor holds a byte other than 0 and 1.
	ErrBool = errors.New("safetensors: byte is neither 0 nor 1")
)

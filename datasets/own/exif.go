// The orientation of an image, from the EXIF data in its file.

package own

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
)

// orientation is EXIF's number for how the upright image lies in its file: 1 to 8.
type orientation int

const upright orientation = 1

// Marks in files.
const (
	pngStart       = "\x89PNG\r\n\x1a\n"
	jpegStart      = "\xff\xd8"
	exifStart      = "Exif\x00\x00"
	jpegApp1       = 0xe1
	jpegPixels     = 0xda
	jpegEnd        = 0xd9
	orientationTag = 0x112
	tiffShort      = 3
	tiffLong       = 4
)

// maxExif bounds what is read of the EXIF data in a PNG file. In JPEG they have at most 64 KiB.
const maxExif = 1 << 20

// readOrientation returns the orientation of an image in PNG or JPEG. An image without EXIF data, or
// with damaged ones, counts as upright, as in other programs.
func readOrientation(r io.ReaderAt) orientation {
	start := string(bytesAt(r, 0, len(pngStart)))
	switch {
	case start == pngStart:
		return parseOrientation(pngExif(r))
	case len(start) >= 2 && start[:2] == jpegStart:
		return parseOrientation(jpegExif(io.NewSectionReader(r, 2, maxImageBytes)))
	}
	return upright
}

// bytesAt returns n bytes of a file, or fewer where it ends. Errors of reading come up again when the
// image is decoded.
func bytesAt(r io.ReaderAt, offset int64, n int) []byte {
	b := make([]byte, n)
	n, _ = r.ReadAt(b, offset)
	return b[:n]
}

// pngExif returns the chunk eXIf of a PNG file, nil without one. It may stand behind the pixels.
func pngExif(r io.ReaderAt) []byte {
	const head, checksum = 8, 4
	for at := int64(len(pngStart)); ; {
		b := bytesAt(r, at, head)
		if len(b) < head {
			return nil
		}
		length := int64(binary.BigEndian.Uint32(b))
		if string(b[4:]) == "eXIf" {
			return bytesAt(r, at+head, int(min(length, maxExif)))
		}
		at += head + length + checksum
	}
}

// jpegExif returns the first EXIF segment of a JPEG file after its first mark, nil without one. It
// stands before the pixels.
func jpegExif(r io.Reader) []byte {
	in := bufio.NewReader(r)
	for {
		marker, length, ok := nextSegment(in)
		if !ok || marker == jpegPixels {
			return nil
		}
		if marker != jpegApp1 {
			_, _ = in.Discard(length) // the next segment is missing if this fails
			continue
		}
		b := make([]byte, length)
		if _, err := io.ReadFull(in, b); err != nil {
			return nil
		}
		if bytes.HasPrefix(b, []byte(exifStart)) { // other data have this marker too
			return b
		}
	}
}

// nextSegment reads up to the data of the next segment of a JPEG file, and returns their length. As
// decoders do, it skips bytes between segments.
func nextSegment(in *bufio.Reader) (marker byte, length int, ok bool) {
	var last byte
	for {
		b, err := in.ReadByte()
		if err != nil || last == 0xff && b == jpegEnd {
			return 0, 0, false
		}
		alone := b == 0 || b == 0xff || b >= 0xd0 && b <= 0xd8 // no segment: it has no length
		if last == 0xff && !alone {
			marker = b
			break
		}
		last = b
	}
	var size [2]byte // counts itself
	if _, err := io.ReadFull(in, size[:]); err != nil {
		return 0, 0, false
	}
	length = int(binary.BigEndian.Uint16(size[:])) - len(size)
	return marker, length, length >= 0
}

// parseOrientation returns the orientation in EXIF data. They are a TIFF file: the order of bytes, the
// offset of a directory, and there a number of entries of twelve bytes.
func parseOrientation(exif []byte) orientation {
	const head, entry = 8, 12
	b := bytes.TrimPrefix(exif, []byte(exifStart))
	order := byteOrder(b)
	if order == nil || len(b) < head {
		return upright
	}
	directory := b[min(int64(order.Uint32(b[4:])), int64(len(b))):]
	if len(directory) < 2 {
		return upright
	}
	entries := directory[2:]
	for range order.Uint16(directory) {
		if len(entries) < entry {
			break
		}
		if order.Uint16(entries) == orientationTag {
			return entryOrientation(order, entries)
		}
		entries = entries[entry:]
	}
	return upright
}

// byteOrder returns the order of bytes in a TIFF file, nil if it is none.
func byteOrder(b []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(b, []byte("II*\x00")):
		return binary.LittleEndian
	case bytes.HasPrefix(b, []byte("MM\x00*")):
		return binary.BigEndian
	}
	return nil
}

// entryOrientation returns the value of an entry of a TIFF directory: its tag, type, count and value.
func entryOrientation(order binary.ByteOrder, entry []byte) orientation {
	var value uint32
	switch order.Uint16(entry[2:]) {
	case tiffShort:
		value = uint32(order.Uint16(entry[8:]))
	case tiffLong:
		value = order.Uint32(entry[8:])
	}
	if order.Uint32(entry[4:]) != 1 || value < 1 || value > 8 { // some cameras write 0
		return upright
	}
	return orientation(value)
}

// swaps reports whether the rows of the upright image are columns in the file.
func (o orientation) swaps() bool { return o >= 5 }

// size returns the width and the height of the upright image from those in the file, or the other way
// round.
func (o orientation) size(width, height int) (int, int) {
	if o.swaps() {
		return height, width
	}
	return width, height
}

// stored returns where a pixel of the upright image is in the file, whose image has this width and
// height.
func (o orientation) stored(x, y, width, height int) (int, int) {
	if o.swaps() {
		x, y = y, x
	}
	switch o {
	case 2, 3, 7, 8:
		x = width - 1 - x
	}
	switch o {
	case 3, 4, 6, 7:
		y = height - 1 - y
	}
	return x, y
}

// Parsing of the JSON header, which refuses duplicate and unknown keys.

package safetensors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

const metadataKey = "__metadata__"

// entry is one tensor as the header describes it.
type entry struct {
	name       string
	dtype      DType
	shape      []int
	begin, end int
}

// header is the parsed JSON header.
type header struct {
	entries  []entry
	metadata map[string]string
}

// parser reads the header token by token: encoding/json would silently keep the last of two
// equal keys and ignore unknown ones.
type parser struct{ dec *json.Decoder }

// parseHeader parses the header; raw must be valid UTF-8.
func parseHeader(raw []byte) (header, error) {
	var all json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return header{}, fmt.Errorf("%w: header byte %d: %w", ErrHeaderJSON, syntax.Offset, err)
		}
		return header{}, fmt.Errorf("%w: %w", ErrHeaderJSON, err)
	}
	p := parser{dec: json.NewDecoder(bytes.NewReader(raw))}
	p.dec.UseNumber()
	var h header
	err := p.object(ErrHeaderJSON, func(key string) error {
		if key == metadataKey {
			return p.metadata(&h)
		}
		e, err := p.tensor(key)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", key, err)
		}
		h.entries = append(h.entries, e)
		return nil
	})
	return h, err
}

// object calls field for each key of the next object. Any other value is an error that
// wraps rule.
func (p parser) object(rule error, field func(key string) error) error {
	if err := p.open('{', rule); err != nil {
		return err
	}
	seen := map[string]bool{}
	for p.dec.More() {
		token, err := p.dec.Token()
		if err != nil {
			return fmt.Errorf("%w: %w", ErrHeaderJSON, err)
		}
		key, ok := token.(string)
		if !ok {
			return fmt.Errorf("%w: expected a key, found %v", ErrHeaderJSON, token)
		}
		if seen[key] {
			return fmt.Errorf("%w: %q", ErrDuplicateKey, key)
		}
		seen[key] = true
		if err := field(key); err != nil {
			return err
		}
	}
	_, err := p.dec.Token() // the closing brace
	return err
}

// open consumes the opening bracket that must come next.
func (p parser) open(bracket json.Delim, rule error) error {
	token, err := p.dec.Token()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrHeaderJSON, err)
	}
	if token != bracket {
		return fmt.Errorf("%w: expected '%v', found %v", rule, bracket, token)
	}
	return nil
}

func (p parser) metadata(h *header) error {
	return p.object(ErrMetadata, func(key string) error {
		value, err := p.text(ErrMetadata)
		if err != nil {
			return fmt.Errorf("key %q: %w", key, err)
		}
		if h.metadata == nil {
			h.metadata = map[string]string{}
		}
		h.metadata[key] = value
		return nil
	})
}

func (p parser) tensor(name string) (entry, error) {
	e := entry{name: name}
	var offsets []int
	missing := map[string]bool{"dtype": true, "shape": true, "data_offsets": true}
	err := p.object(ErrHeaderJSON, func(key string) error {
		delete(missing, key)
		switch key {
		case "dtype":
			text, err := p.text(ErrDType)
			e.dtype = DType(text)
			return err
		case "shape":
			var err error
			e.shape, err = p.numbers(ErrShape)
			return err
		case "data_offsets":
			var err error
			offsets, err = p.numbers(ErrOffsets)
			return err
		}
		return fmt.Errorf("%w: %q is unknown", ErrField, key)
	})
	if err != nil {
		return entry{}, err
	}
	for _, key := range []string{"dtype", "shape", "data_offsets"} {
		if missing[key] {
			return entry{}, fmt.Errorf("%w: %q is missing", ErrField, key)
		}
	}
	if len(offsets) != 2 {
		return entry{}, fmt.Errorf("%w: expected [begin, end], found %d numbers", ErrOffsets, len(offsets))
	}
	e.begin, e.end = offsets[0], offsets[1]
	return e, nil
}

func (p parser) text(rule error) (string, error) {
	token, err := p.dec.Token()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrHeaderJSON, err)
	}
	text, ok := token.(string)
	if !ok {
		return "", fmt.Errorf("%w: expected a string, found %v", rule, token)
	}
	return text, nil
}

// numbers reads a list of whole numbers >= 0.
func (p parser) numbers(rule error) ([]int, error) {
	if err := p.open('[', rule); err != nil {
		return nil, err
	}
	out := []int{}
	for p.dec.More() {
		token, err := p.dec.Token()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrHeaderJSON, err)
		}
		number, ok := token.(json.Number)
		if !ok {
			return nil, fmt.Errorf("%w: expected a number, found %v", rule, token)
		}
		n, err := wholeNumber(number.String(), rule)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	_, err := p.dec.Token() // the closing bracket
	return out, err
}

func wholeNumber(text string, rule error) (int, error) {
	if strings.Trim(text, "0123456789") != "" {
		return 0, fmt.Errorf("%w: expected a whole number >= 0, found %s", rule, text)
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n > math.MaxInt {
		return 0, fmt.Errorf("%w: %s", ErrOverflow, text)
	}
	return int(n), nil
}

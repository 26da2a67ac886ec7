// Messages of the Jupyter protocol: parsing, signing, replying.

package relay

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// delimiter is the frame between a message's routing frames and its signature.
const delimiter = "<IDS|MSG>"

// protocolVersion is the version of the relay's own messages.
const protocolVersion = "5.4"

var (
	errNoDelimiter = errors.New("no frame " + delimiter)
	errTooShort    = errors.New("fewer than five frames after " + delimiter)
	errSignature   = errors.New("the signature does not fit")
)

// header holds the used fields of a message's header.
type header struct {
	ID       string `json:"msg_id"`
	Type     string `json:"msg_type"`
	Session  string `json:"session"`
	Username string `json:"username"`
	Date     string `json:"date"`
	Version  string `json:"version"`
}

// message is one message of the Jupyter protocol. The four dictionaries are kept as bytes,
// so that unknown fields pass unchanged.
type message struct {
	ids       [][]byte // routing frames, before the delimiter
	head      header
	parent    header // of the parent; zero where there is none
	rawHead   json.RawMessage
	rawParent json.RawMessage // the parent's header
	metadata  json.RawMessage
	content   json.RawMessage
	buffers   [][]byte
}

// parse parses the frames of a message and checks its signature. With an empty key messages
// are unsigned.
func parse(frames [][]byte, key []byte) (*message, error) {
	at := 0
	for at < len(frames) && string(frames[at]) != delimiter {
		at++
	}
	if at == len(frames) {
		return nil, errNoDelimiter
	}
	rest := frames[at+1:]
	if len(rest) < 5 {
		return nil, errTooShort
	}
	if !signed(rest[0], rest[1:5], key) {
		return nil, errSignature
	}
	m := &message{
		ids: frames[:at], rawHead: rest[1], rawParent: rest[2],
		metadata: rest[3], content: rest[4], buffers: rest[5:],
	}
	names := [4]string{"header", "parent header", "metadata", "content"}
	for i, raw := range rest[1:5] {
		if !isObject(raw) {
			return nil, fmt.Errorf("the %s is no JSON object", names[i])
		}
	}
	if err := json.Unmarshal(m.rawHead, &m.head); err != nil {
		return nil, fmt.Errorf("the header: %w", err)
	}
	if err := json.Unmarshal(m.rawParent, &m.parent); err != nil {
		return nil, fmt.Errorf("the parent header: %w", err)
	}
	if m.head.Type == "" {
		return nil, errors.New("the header has no msg_type")
	}
	return m, nil
}

func isObject(raw []byte) bool {
	trimmed := bytes.TrimLeft(raw, " \t\r\n")
	return len(trimmed) > 0 && trimmed[0] == '{' && json.Valid(raw)
}

// frames returns the message for the wire, signed with the key.
func (m *message) frames(key []byte) [][]byte {
	body := [][]byte{m.rawHead, m.rawParent, m.metadata, m.content}
	out := make([][]byte, 0, len(m.ids)+6+len(m.buffers))
	out = append(out, m.ids...)
	out = append(out, []byte(delimiter), sign(body, key))
	out = append(out, body...)
	return append(out, m.buffers...)
}

func sign(body [][]byte, key []byte) []byte {
	if len(key) == 0 {
		return nil
	}
	mac := hmac.New(sha256.New, key)
	for _, b := range body {
		mac.Write(b)
	}
	return hex.AppendEncode(nil, mac.Sum(nil))
}

// signed reports whether the signature is right, in constant time.
func signed(signature []byte, body [][]byte, key []byte) bool {
	return len(key) == 0 || hmac.Equal(signature, sign(body, key))
}

// newReply returns a new message of a type with m as its parent, routed back to the sender
// of m.
func (m *message) newReply(kind string, content any) *message {
	h := header{
		ID: newID(), Type: kind, Session: m.head.Session, Username: m.head.Username,
		Date: time.Now().UTC().Format(time.RFC3339Nano), Version: protocolVersion,
	}
	return &message{
		ids: m.ids, head: h, parent: m.head,
		rawHead: encode(h), rawParent: m.rawHead,
		metadata: json.RawMessage("{}"), content: encode(content),
	}
}

// withContent returns a copy of the message with another content.
func (m *message) withContent(content any) *message {
	c := *m
	c.content = encode(content)
	return &c
}

// withCode returns an execute_request with other code.
func (m *message) withCode(code string) *message {
	fields := m.fields()
	if fields["code"] == code {
		return m
	}
	fields["code"] = code
	return m.withContent(fields)
}

// withIDs returns a copy of the message with other routing frames.
func (m *message) withIDs(ids ...[]byte) *message {
	c := *m
	c.ids = ids
	return &c
}

// read decodes the content into v, as far as it fits.
func (m *message) read(v any) { _ = json.Unmarshal(m.content, v) }

// fields returns the content as a map.
func (m *message) fields() map[string]any {
	f := map[string]any{}
	m.read(&f)
	return f
}

// encode encodes a value of the relay itself as JSON.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return json.RawMessage("{}")
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// newID returns a new identifier.
func newID() string { return rand.Text() }

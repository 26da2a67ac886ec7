// The requests to gopls: completion, hover, signatures.

package gopls

import "context"

// Item is one completion.
type Item struct {
	Label  string
	Kind   Kind
	Detail string // the type, or the signature
	Edit   *Edit  `json:"textEdit"`
}

// Edit replaces a part of a line.
type Edit struct {
	Range struct{ Start, End Position }
	Text  string `json:"newText"`
}

// Kind is what a name stands for, by the protocol's numbers.
type Kind int

// String returns Jupyter's word for the kind, for which it has a symbol.
func (k Kind) String() string {
	switch k {
	case 2, 3:
		return "function"
	case 5, 10:
		return "property"
	case 6:
		return "instance"
	case 7, 8, 22, 25:
		return "class"
	case 9:
		return "module"
	case 14:
		return "keyword"
	case 20, 21:
		return "constant"
	}
	return "value"
}

// Complete returns the completions at a position, best first.
func (s *Server) Complete(ctx context.Context, file string, at Position) ([]Item, error) {
	var list struct{ Items []Item }
	err := s.request(ctx, "textDocument/completion", s.positionParams(file, at), &list)
	return list.Items, err
}

// Hover returns the documentation of the name at a position, in Markdown.
func (s *Server) Hover(ctx context.Context, file string, at Position) (string, error) {
	var hover struct{ Contents struct{ Value string } }
	err := s.request(ctx, "textDocument/hover", s.positionParams(file, at), &hover)
	return hover.Contents.Value, err
}

// Signature returns the signature of the call around a position, in Markdown.
func (s *Server) Signature(ctx context.Context, file string, at Position) (string, error) {
	var help struct {
		Signatures []struct {
			Label         string
			Documentation struct{ Value string }
		}
	}
	err := s.request(ctx, "textDocument/signatureHelp", s.positionParams(file, at), &help)
	if err != nil || len(help.Signatures) == 0 {
		return "", err
	}
	call := help.Signatures[0]
	return "```go\nfunc " + call.Label + "\n```\n\n" + call.Documentation.Value, nil
}

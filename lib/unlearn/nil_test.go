package unlearn

import (
	"strings"
	"testing"
)

func TestNoMethodIsAnError(t *testing.T) {
	if _, _, err := Apply(t.Context(), nil, Request{}); err == nil || !strings.Contains(err.Error(), "the method is nil") {
		t.Error(err)
	}
}

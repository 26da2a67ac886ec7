// Subshells (Jupyter Enhancement Proposal 91): clients send comm messages to one of their own,
// so that they do not wait behind a cell.
//
// This kernel never lets such messages wait: the relay answers completion, inspection and
// information itself, and passes comm messages on at once. A subshell is therefore only a name
// that clients may use. Cells run one after the other, whichever shell asks: GoNB has one
// program at a time.

package relay

import "slices"

// subshellFeature is what kernel_info_reply lists.
const subshellFeature = "kernel subshells"

// maxSubshells bounds the names; JupyterLab asks for one per widget library or widget.
const maxSubshells = 1000

// onSubshell answers the requests about subshells, which come on the control socket.
func (m *machine) onSubshell(from port, msg *message) {
	var content struct {
		ID string `json:"subshell_id"`
	}
	msg.read(&content)
	switch msg.head.Type {
	case "create_subshell_request":
		if len(m.subshells) >= maxSubshells {
			m.reply(from, msg, "create_subshell_reply", errorContent("TooManySubshells", "this kernel has 1000 subshells; delete one first"))
			return
		}
		id := newID()
		m.subshells = append(m.subshells, id)
		m.reply(from, msg, "create_subshell_reply", map[string]any{"status": "ok", "subshell_id": id})
	case "delete_subshell_request":
		at := slices.Index(m.subshells, content.ID)
		if at < 0 {
			m.reply(from, msg, "delete_subshell_reply", errorContent("NoSuchSubshell", "this kernel has no subshell "+content.ID))
			return
		}
		m.subshells = slices.Delete(m.subshells, at, at+1)
		m.reply(from, msg, "delete_subshell_reply", map[string]any{"status": "ok"})
	case "list_subshell_request":
		m.reply(from, msg, "list_subshell_reply", map[string]any{"status": "ok", "subshell_id": append([]string{}, m.subshells...)})
	}
}

func errorContent(name, value string) map[string]any {
	return map[string]any{"status": "error", "ename": name, "evalue": value, "traceback": []string{}}
}

package cells

import "strconv"

// Unique returns the names with duplicates renamed to name-1, name-2, ..., skipping names that are
// already in use. The first of equal names is unchanged. It is anndata's var_names_make_unique
// (0.12.19).
func Unique(names []string) []string {
	taken := make(map[string]bool, len(names))
	for _, name := range names {
		taken[name] = true
	}
	out, seen, last := make([]string, len(names)), make(map[string]bool, len(names)), map[string]int{}
	for i, name := range names {
		out[i] = name
		for again := seen[name]; again; again = taken[out[i]] {
			last[name]++
			out[i] = name + "-" + strconv.Itoa(last[name])
		}
		seen[name], taken[out[i]] = true, true
	}
	return out
}

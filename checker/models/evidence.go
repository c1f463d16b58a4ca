package models

import "fmt"

// conflict reports a hold that began beside too many others: beside known, if
// that is why, and beside the latest of those that still last.
func (h *holds) conflict(n, known *hold) {
	var with []*hold
	if known != nil {
		with = append(with, known)
	}
	for w := h.writers.last; w != nil && len(with) <= h.beside; w = w.prev {
		if w.ret.Index < n.ret.Index {
			with = append(with, w)
		}
	}
	for r := h.readers.last; r != nil && len(with) <= h.beside && !n.reads; r = r.prev {
		if r.ret.Index < n.ret.Index {
			with = append(with, r)
		}
	}
	refs := []Ref{n.call, n.ret}
	for _, w := range with {
		refs = append(refs, w.call, w.ret)
	}
	h.found.add(n.ret.Index, h.k.name, refs, func() string {
		text := fmt.Sprintf("%s was granted %sat %s while ", n.who(), h.of(), n.ret)
		for i, w := range with {
			if i > 0 {
				text += " and "
			}
			text += fmt.Sprintf("%s held it since %s", w.who(), w.ret)
		}
		return text + "."
	})
}

// of names the key, where there is one.
func (h *holds) of() string { return keyed(h.k) }

func keyed(k *keyLog) string {
	if k.name == "" {
		return ""
	}
	return fmt.Sprintf("%q ", k.name)
}

func side(reads bool) int {
	if reads {
		return 1
	}
	return 0
}

package protocol

import "slices"

func offers(r Result, name string) bool { return slices.Contains(r.Offers, name) }

// checkHello looks at what an adapter says of itself.
func checkHello(r *Result, versions []int) *Fault {
	known := []string{}
	for _, o := range Offers {
		known = append(known, o.Name)
	}
	seen := map[string]bool{}
	for _, o := range r.Offers {
		switch {
		case !slices.Contains(known, o):
			return fault(Mistaken, "hello offers %q, which version 1 does not know; it knows %v", clip(o), known)
		case seen[o]:
			return fault(Mistaken, "hello offers %q twice", o)
		}
		seen[o] = true
	}
	switch {
	case !slices.Contains(versions, r.Version):
		return fault(NoVersion, "it chose version %d of %v", r.Version, versions)
	case r.Name == "":
		return fault(Mistaken, "hello tells no name")
	case r.Grant != "" || r.Token != 0 || r.Deadline != 0:
		return fault(Mistaken, "hello was answered with a grant")
	}
	return nil
}

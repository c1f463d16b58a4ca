package formats

import "github.com/dlmtest/dlmtest/history"

// concurrent is how many events of one time are put into order together.
const concurrent = 1 << 10

// readTimelock reads what AtlasDB's tests of TimeLock record: JSON objects whose f is
// lock, refresh or unlock. A call's value is the name of the lock. An answer's value is
// the token of a lock and the tokens still held of a refresh, where nothing is a no, and
// true or false of an unlock. Their checkers go by times with closed ends, so of the
// events of one time the calls come first, as far as each process's own order allows.
// A fail may be a timeout, so it may have had an effect: MayHave counts those.
func (r *Reader) readTimelock() error {
	var group []step
	give := func() error {
		for len(group) > 0 {
			next := 0
			busy := map[string]bool{}
			for i := range group {
				if process := group[i].process.text; !busy[process] {
					busy[process] = true
					if group[i].kind == history.Invoke {
						next = i
						break
					}
				}
			}
			s := group[next]
			group = append(group[:next], group[next+1:]...)
			if err := r.take(&s); err != nil {
				return err
			}
		}
		return nil
	}
	err := r.readObjects(func(s *step) error {
		if s.kind == history.Fail && !s.nemesis() {
			r.MayHave++
		}
		if len(group) > 0 && (group[0].time != s.time || len(group) == concurrent) {
			if err := give(); err != nil {
				return err
			}
		}
		group = append(group, *s)
		return nil
	})
	if err != nil {
		return err
	}
	return give()
}

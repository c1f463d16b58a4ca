package formats

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/dlmtest/dlmtest/history"
)

// readLog reads what Jepsen logs: of each line that tells of an operation, what
// follows the logger's name. Other lines are left out.
func (r *Reader) readLog() error {
	lines := bufio.NewReaderSize(r.in, longestText)
	for n := 1; ; n++ {
		b, err := lines.ReadSlice('\n')
		switch {
		case err == io.EOF && len(b) == 0:
			return nil
		case err == io.EOF: // a number that is cut off is another number
			return r.at(n, ErrTruncated)
		case err == bufio.ErrBufferFull:
			return r.at(n, fmt.Errorf("longer than %d bytes", longestText))
		case err != nil:
			return err
		case !utf8.Valid(b):
			return r.at(n, errors.New("no UTF-8"))
		}
		fields, found := logged(string(b))
		if !found {
			r.Skipped["lines of the log without an operation"]++
			continue
		}
		s, err := fields.step(n)
		if err != nil {
			return err
		}
		if err := r.take(&s); err != nil {
			return err
		}
	}
}

// entry is a line that tells of an operation.
type entry struct{ process, kind, f, rest string }

// logged finds the operation in a line: PROCESS :type f value, after the name of
// the logger, with tabs or blanks between.
func logged(line string) (entry, bool) {
	_, said, ok := strings.Cut(line, " - ")
	for try := 0; ok && try < 2; try++ { // newer ones log "jepsen worker 3 - jepsen.util 3 :invoke …"
		var e entry
		rest := said
		for _, field := range []*string{&e.process, &e.kind, &e.f} {
			rest = strings.TrimLeft(rest, " \t")
			end := strings.IndexAny(rest, " \t\r\n")
			if end < 0 {
				break
			}
			*field, rest = rest[:end], rest[end:]
		}
		if kind, colon := strings.CutPrefix(e.kind, ":"); colon && known(history.Type(kind)) && e.f != "" {
			e.kind, e.rest = kind, rest
			return e, true
		}
		said = strings.TrimLeft(said, " \t")
		_, said, ok = strings.Cut(said, " ")
	}
	return entry{}, false
}

func (e entry) step(line int) (step, error) {
	s := step{line: line, kind: history.Type(e.kind), f: strings.TrimPrefix(e.f, ":"), told: toldProcess | toldType | toldF}
	var err error
	if s.process, err = (form{line: line, column: 1}).classify(e.process); err != nil {
		return s, err
	}
	p := &edn{source: sourceOf([]byte(e.rest), line, 1)}
	if _, ok, err := p.blank(); err != nil || !ok {
		return s, err
	}
	if s.value, err = p.value(); err != nil {
		return s, err
	}
	s.note = strings.TrimSpace(e.rest[p.pos:]) // the reason of a failure: a text of any kind
	if s.note != "" && s.kind != history.Fail && s.kind != history.Info {
		return s, &Error{Line: line, Err: fmt.Errorf("%s follows the value of an operation", clip(s.note))}
	}
	return s, nil
}

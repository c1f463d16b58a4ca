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
		case errors.Is(err, io.EOF) && len(b) == 0:
			return nil
		case errors.Is(err, io.EOF): // a number that is cut off is another number
			return r.at(n, ErrTruncated)
		case errors.Is(err, bufio.ErrBufferFull):
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

// logged finds the operation in a line, whatever a logger puts before it: PROCESS :type
// :f value, with tabs or blanks between.
func logged(line string) (entry, bool) {
	for from := 0; ; {
		at := strings.IndexByte(line[from:], ':')
		if at < 0 {
			return entry{}, false
		}
		at += from
		from = at + 1
		end := at + strings.IndexAny(line[at:]+" ", " \t\r\n")
		if at == 0 || line[at-1] != ' ' && line[at-1] != '\t' || !known(history.Type(line[at+1:end])) {
			continue
		}
		before := strings.Fields(line[:at])
		if len(before) == 0 {
			continue
		}
		rest := strings.TrimLeft(line[end:], " \t")
		stop := strings.IndexAny(rest+" ", " \t\r\n")
		e := entry{process: before[len(before)-1], kind: line[at+1 : end], f: rest[:stop], rest: rest[stop:]}
		if isWhole(e.process) && strings.HasPrefix(e.f, ":") || e.process == ":nemesis" {
			return e, true
		}
	}
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

package formats

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// Layout is how EDN maps are put into a file.
type Layout string

// The layouts that Jepsen and Knossos read.
const (
	Lines  Layout = "lines"  // one map a line
	Vector Layout = "vector" // one vector of maps
)

// WriteEDN writes events as Jepsen would, for Knossos and others to read. Keys
// become [key value] tuples; a try is an :acquire with :try true beside it.
// What only dlmtest tells (:owner, :token, :lease) stands beside it too, where
// other readers pass over it.
func WriteEDN(out io.Writer, events iter.Seq2[models.Event, error], layout Layout) error {
	w := bufio.NewWriter(out)
	p := ednWriter{layout: layout}
	if layout == Vector {
		p.start = "["
	}
	for e, err := range events {
		if err != nil {
			return err
		}
		line, err := p.event(&e)
		if err != nil {
			return fmt.Errorf("line %d: %w", e.Line, err)
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	if layout == Vector {
		_, _ = w.WriteString(strings.TrimSpace(p.start) + "]\n") // Flush returns its error
	}
	return w.Flush()
}

type ednWriter struct {
	layout Layout
	start  string // of the next map
	keyed  answer
	reads  bool // somebody holds, or held, as a reader: a release in a word for both may be of that
	buf    []byte
}

// words are those that Knossos knows; the others are dlmtest's own.
var words = map[models.F]string{models.Try: "acquire"}

func (p *ednWriter) event(e *models.Event) ([]byte, error) {
	if p.keyed == "" {
		p.keyed = answered(e.Key != "")
	}
	if p.keyed != answered(e.Key != "") {
		return nil, errors.New("some events have a key and some have none: there is no EDN for that")
	}
	if _, ok := Names[e.F]; !ok {
		return nil, fmt.Errorf("f %s: there is no word for it", clip(string(e.F)))
	}
	word := words[e.F]
	if word == "" {
		word = string(e.F)
	}
	if p.reads = p.reads || e.F == models.AcquireR; p.reads && e.F == models.Release {
		word = "release-write"
	}
	p.buf = append(p.buf[:0], p.start...)
	p.start = ""
	if p.layout == Vector {
		p.start = " "
	}
	p.buf = fmt.Appendf(p.buf, "{:process %d, :type :%s, :f :%s, :value ", e.Process, e.Type, word)
	if err := p.value(e); err != nil {
		return nil, err
	}
	if e.F == models.Try {
		p.buf = append(p.buf, ", :try true"...)
	}
	if e.Refused {
		p.buf = append(p.buf, ", :refused true"...)
	}
	if p.number(", :time ", e.Time); e.Timed && e.Time == 0 {
		p.buf = append(p.buf, ", :time 0"...)
	}
	p.number(", :token ", e.Token)
	p.number(", :lease ", e.Lease)
	for _, s := range []struct{ name, text string }{{", :owner ", e.Owner}, {", :error ", e.Note}} {
		if s.text == "" {
			continue
		}
		p.buf = append(p.buf, s.name...)
		if err := p.quoted(s.text); err != nil {
			return nil, err
		}
	}
	return append(p.buf, "}\n"...), nil
}

func (p *ednWriter) number(name string, n int64) {
	if n != 0 {
		p.buf = strconv.AppendInt(append(p.buf, name...), n, 10)
	}
}

func (p *ednWriter) value(e *models.Event) error {
	if p.keyed == yes {
		p.buf = append(p.buf, '[')
		if err := p.scalar(e.Key); err != nil {
			return err
		}
		p.buf = append(p.buf, ' ')
	}
	var err error
	if e.F == models.CAS && (e.Type == history.Invoke || e.Value != "" || e.Old != "") {
		p.buf = append(p.buf, '[')
		err = p.scalar(e.Old)
		p.buf = append(p.buf, ' ')
		err = errors.Join(err, p.scalar(e.Value))
		p.buf = append(p.buf, ']')
	} else {
		err = p.scalar(e.Value)
	}
	if p.keyed == yes {
		p.buf = append(p.buf, ']')
	}
	return err
}

// scalar writes a value so that it is read with the same text.
func (p *ednWriter) scalar(s string) error {
	switch {
	case s == "":
		p.buf = append(p.buf, "nil"...)
	case bare(s):
		p.buf = append(p.buf, s...)
	default:
		return p.quoted(s)
	}
	return nil
}

var quoting = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\r", `\r`)

func (p *ednWriter) quoted(s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%s is no UTF-8", clip(s))
	}
	p.buf = append(p.buf, '"')
	for _, r := range quoting.Replace(s) {
		if r < ' ' {
			p.buf = fmt.Appendf(p.buf, `\u%04x`, r)
		} else {
			p.buf = utf8.AppendRune(p.buf, r)
		}
	}
	p.buf = append(p.buf, '"')
	return nil
}

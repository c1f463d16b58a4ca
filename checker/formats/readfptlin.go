package formats

import (
	"bufio"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dlmtest/dlmtest/history"
)

// readFptlin reads fptlin's text: a line "# rmw" and then whole operations, PROCESS rmw
// OLD NEW START END. Of its types the register is one that a model here knows: a
// compare-and-set that succeeded, of a register that begins with 0. The others (stack,
// queue, priorityqueue) are refused.
func (r *Reader) readFptlin() error {
	lines := bufio.NewScanner(r.in)
	lines.Buffer(nil, longestText)
	q, last, kind := returns{}, int64(-1), ""
	var ops []operation
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) == 0:
			continue
		case kind == "":
			kind = strings.TrimSpace(strings.TrimPrefix(lines.Text(), "#"))
			if kind != "rmw" {
				return r.at(n, fmt.Errorf("a history of a %s, for which there is no model: rmw is known", clip(kind)))
			}
			continue
		}
		o, err := fptlinOp(words, n)
		if err != nil {
			return r.at(n, err)
		}
		if len(ops) == OperationsKept {
			return r.at(n, fmt.Errorf("more than %d operations", OperationsKept))
		}
		ops = append(ops, o)
	}
	if err := lines.Err(); err != nil {
		return err
	}
	sortByCall(ops)
	for i := range ops {
		o := &ops[i]
		if o.call < last {
			return r.at(o.line, errors.New("calls are in no order"))
		}
		last = o.call
		if err := r.returned(&q, o.call); err != nil {
			return err
		}
		if err := r.called(&q, o); err != nil {
			return err
		}
	}
	return r.returned(&q, 1<<62)
}

// OperationsKept is how many operations a file may have that is in no order of its own.
const OperationsKept = 1 << 20

func fptlinOp(words []string, line int) (o operation, err error) {
	if len(words) != 6 || words[1] != "rmw" {
		return o, fmt.Errorf("want PROCESS rmw OLD NEW START END")
	}
	at := form{line: line, column: 1}
	o = operation{step: step{line: line, f: "cas", told: toldProcess | toldType | toldF | toldValue}, called: true, out: string(history.OK)}
	if o.process, err = at.classify(words[0]); err != nil {
		return o, err
	}
	value := form{kind: list, line: line, column: 1}
	for _, word := range words[2:4] {
		item, err := at.classify(word)
		if err != nil {
			return o, err
		}
		value.items = append(value.items, item)
	}
	o.value = value
	var wrong error
	o.call, err = strconv.ParseInt(words[4], 10, 64)
	o.ret, wrong = strconv.ParseInt(words[5], 10, 64)
	if err = errors.Join(err, wrong); err == nil && (o.call < 0 || o.call > 1<<61 || o.ret > 1<<61) {
		err = errors.New("a time out of range")
	}
	if err != nil {
		return o, err
	}
	return o, o.check()
}

package formats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// ednWith writes maps of EDN with what calls say and what answers say.
func ednWith(calls, answers, beside string) func([]models.Event) ([]byte, error) {
	return func(events []models.Event) ([]byte, error) {
		var b bytes.Buffer
		for i := range events {
			e := &events[i]
			form := calls
			if e.Type == history.OK {
				form = answers
			}
			fmt.Fprintf(&b, "{:process %d, :type :%s, :f :%s,", e.Process, e.Type, e.F)
			text := fmt.Sprintf(form+"%[4]s", fmt.Sprintf("%q", e.Key), e.Owner, e.Token, beside)
			text = strings.NewReplacer(` :owner ""`, "", ` :client ""`, "", ` :token 0`, "", ` :fence 0`, "").Replace(text)
			text = strings.NewReplacer(`{:owner "", `, "{", `{:client "" `, "{", "{ :", "{:").Replace(text)
			b.WriteString(text)
			if e.Time > 0 {
				fmt.Fprintf(&b, " :time %d", e.Time)
			}
			if e.Lease > 0 {
				fmt.Fprintf(&b, " :lease %d", e.Lease)
			}
			if e.Refused {
				b.WriteString(" :refused true")
			}
			b.WriteString("}\n")
		}
		return b.Bytes(), nil
	}
}

// logLines writes what Jepsen logs.
func logLines(events []models.Event) ([]byte, error) {
	var b bytes.Buffer
	for i := range events {
		e := &events[i]
		if e.Refused {
			return nil, fmt.Errorf("no word for a refusal")
		}
		value := fmt.Sprintf("[%q nil]", e.Key)
		if e.Type == history.OK && e.Owner != "" {
			value = fmt.Sprintf("[%q {:owner %q, :token %d}]", e.Key, e.Owner, e.Token)
		}
		fmt.Fprintf(&b, "2019-01-01 00:00:00,%d\tINFO\t[jepsen worker %d] jepsen.util: [ %d ] %d\t:%s\t:%s\t%s\n", i, e.Process, e.Process, e.Process, e.Type, e.F, value)
	}
	return b.Bytes(), nil
}

// valueOf is the value of a register's operation as JSON has it.
func valueOf(e *models.Event) any {
	switch {
	case e.F == models.CAS:
		return []any{e.Old, e.Value}
	case e.Value == "":
		return nil
	}
	return e.Value
}

// fieldsOf are those of an event that stand beside its value.
func fieldsOf(e *models.Event) map[string]any {
	m := map[string]any{"process": e.Process, "f": string(e.F), "key": e.Key, "value": valueOf(e)}
	if e.F == models.Try {
		m["f"], m["try"] = "acquire", true
	}
	for name, n := range map[string]int64{"token": e.Token, "lease": e.Lease} {
		if n != 0 {
			m[name] = n
		}
	}
	if e.Owner != "" {
		m["owner"] = e.Owner
	}
	if e.Refused {
		m["refused"] = true
	}
	return m
}

func jsonOf(indent string) func([]models.Event) ([]byte, error) {
	return func(events []models.Event) ([]byte, error) {
		var all []any
		for i := range events {
			m := fieldsOf(&events[i])
			m["type"] = string(events[i].Type)
			if events[i].Time > 0 {
				m["time"] = events[i].Time
			}
			all = append(all, m)
		}
		return json.MarshalIndent(all, "", indent)
	}
}

// wholeOperations writes an operation in a line, in the order of their calls.
func wholeOperations(events []models.Event) ([]byte, error) {
	var all []map[string]any
	open := map[int]map[string]any{}
	for i := range events {
		e := &events[i]
		if e.Type == history.Invoke {
			m := fieldsOf(e)
			m["call"], m["out"], m["t_call"] = i+1, "open", e.Time
			open[e.Process] = m
			all = append(all, m)
			continue
		}
		m := open[e.Process]
		for name, value := range fieldsOf(e) {
			m[name] = value
		}
		m["out"] = string(e.Type)
		if e.Type != history.Info {
			m["ret"], m["t_ret"] = i+1, e.Time
		}
	}
	var b bytes.Buffer
	for _, m := range all {
		line, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		b.Write(append(line, '\n'))
	}
	return b.Bytes(), nil
}

func blocksWith(header int, answers bool) func([]models.Event) ([]byte, error) {
	return func(events []models.Event) ([]byte, error) {
		var ops []any
		for i := range events {
			e := &events[i]
			op := opOut{index: int64(i), time: e.Time, process: int64(e.Process), typ: string(e.Type), f: string(e.F), value: entryOut{e.Key, valueOf(e)}}
			if e.Time == 0 {
				op.time = int64(i)
			}
			for name, n := range map[string]int64{"token": e.Token, "lease": e.Lease} {
				if n != 0 {
					op.rest = append(op.rest, keywordOut(name), n)
				}
			}
			if e.Owner != "" && (!answers || e.Type == history.OK) {
				op.rest = append(op.rest, keywordOut("owner"), e.Owner)
			}
			if e.Refused {
				op.rest = append(op.rest, keywordOut("refused"), true)
			}
			ops = append(ops, op)
		}
		return storedTest(header, 7, ops, true), nil
	}
}

// timelockTells takes away what TimeLock's tests do not write: owners, tokens and failures.
func timelockTells(events []models.Event) (told []models.Event) {
	for i, e := range events {
		if e.Owner, e.Token, e.Lease, e.Time = "", 0, 0, int64(i+1); e.Type == history.Fail && !e.Refused {
			return nil
		}
		told = append(told, e)
	}
	return told
}

func timelockJSON(events []models.Event) ([]byte, error) {
	var all []any
	words := map[models.F]string{models.Acquire: "lock", models.Extend: "refresh", models.Release: "unlock"}
	yes := map[models.F]string{models.Acquire: "t", models.Extend: "[t]", models.Release: "true"}
	for i := range events {
		e := &events[i]
		m := map[string]any{"process": e.Process, "type": string(e.Type), "f": words[e.F], "time": e.Time, "value": e.Key}
		switch {
		case e.Type == history.OK:
			m["value"] = yes[e.F]
		case e.Type == history.Fail:
			m["type"], m["value"] = "ok", map[bool]string{true: "false"}[e.F == models.Release]
		}
		all = append(all, m)
	}
	return json.Marshal(all)
}

// fptlinTells keeps the compare-and-sets that succeeded, as if there were one register.
func fptlinTells(events []models.Event) (told []models.Event) {
	done := map[int]bool{} // calls
	open := map[int]int{}
	for i, e := range events {
		if e.Type == history.Invoke {
			open[e.Process] = i
		}
		done[open[e.Process]] = done[open[e.Process]] || e.F == models.CAS && e.Type == history.OK
	}
	for i, e := range events {
		if e.Type == history.Invoke {
			open[e.Process] = i
		}
		if done[open[e.Process]] {
			e.Key, e.Time = "", 0
			told = append(told, e)
		}
	}
	return told
}

func fptlinText(events []models.Event) ([]byte, error) {
	b := bytes.NewBufferString("# rmw\n")
	open := map[int]int{}
	for i := range events {
		e := &events[i]
		if e.Type == history.Invoke {
			open[e.Process] = i + 1
			continue
		}
		fmt.Fprintf(b, "%d rmw %s %s %d %d\n", e.Process, e.Old, e.Value, open[e.Process], i+1)
	}
	return b.Bytes(), nil
}

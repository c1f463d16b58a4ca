package history

import (
	"encoding/json"
	"strconv"
)

// appendOp appends op as one line.
func appendOp(b []byte, op *Op) []byte { return append(AppendOp(b, op), '\n') }

// AppendOp appends op as an object, in the form that encoding/json would write and
// parser reads, in a fraction of the time: a worker writes two for each call.
func AppendOp(b []byte, op *Op) []byte {
	b = append(b, `{"index":`...)
	b = strconv.AppendInt(b, int64(op.Index), 10)
	b = append(b, `,"time":`...)
	b = strconv.AppendInt(b, op.Time, 10)
	b = appendInt(b, `,"mono":`, op.Mono)
	b = appendInt(b, `,"real":`, op.Real)
	b = appendString(b, `,"node":`, op.Node)
	b = append(b, `,"process":`...)
	b = strconv.AppendInt(b, int64(op.Process), 10)
	b = appendString(b, `,"type":`, string(op.Type))
	b = appendString(b, `,"f":`, string(op.F))
	b = appendString(b, `,"key":`, op.Key)
	b = appendString(b, `,"owner":`, op.Owner)
	b = appendInt(b, `,"token":`, op.Token)
	b = appendInt(b, `,"sent":`, op.Sent)
	b = appendInt(b, `,"lease":`, op.Lease)
	b = appendInt(b, `,"deadline":`, op.Deadline)
	b = appendString(b, `,"mode":`, string(op.Mode))
	b = appendInt(b, `,"permits":`, int64(op.Permits))
	b = appendInt(b, `,"depth":`, int64(op.Depth))
	b = appendInt(b, `,"limit":`, op.Limit)
	if op.Busy {
		b = append(b, `,"busy":true`...)
	}
	b = appendString(b, `,"value":`, op.Value)
	b = appendCopy(b, `,"unfenced":{`, op.Unfenced)
	b = appendCopy(b, `,"fenced":{`, op.Fenced)
	b = appendFault(b, op.Fault)
	b = appendInt(b, `,"length":`, op.Length)
	b = appendString(b, `,"error":`, op.Error)
	return append(b, '}')
}

func appendInt(b []byte, name string, n int64) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(append(b, name...), n, 10)
}

func appendString(b []byte, name, s string) []byte {
	if s == "" {
		return b
	}
	return appendQuoted(append(b, name...), s)
}

func appendQuoted(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(s) // a string cannot fail
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func appendCopy(b []byte, name string, c *Copy) []byte {
	if c == nil {
		return b
	}
	b = append(b, name...)
	from := len(b)
	b = appendString(b, `,"value":`, c.Value)
	b = appendString(b, `,"base":`, c.Base)
	if c.Accepted {
		b = append(b, `,"accepted":true`...)
	}
	b = appendString(b, `,"previous":`, c.Previous)
	b = appendInt(b, `,"token":`, c.Token)
	return closeObject(b, from)
}

func appendFault(b []byte, f *FaultNote) []byte {
	if f == nil {
		return b
	}
	b = append(b, `,"fault":{"id":`...)
	b = strconv.AppendInt(b, int64(f.ID), 10)
	b = appendString(b, `,"kind":`, f.Kind)
	b = appendString(b, `,"target":`, f.Target)
	b = appendString(b, `,"phase":`, string(f.Phase))
	for i, name := range f.Cut {
		b = append(b, [...]string{`,"cut":[`, `,`}[min(i, 1)]...)
		b = appendQuoted(b, name)
	}
	if len(f.Cut) > 0 {
		b = append(b, ']')
	}
	if f.Whole {
		b = append(b, `,"whole":true`...)
	}
	b = appendString(b, `,"proof":`, f.Proof)
	b = appendInt(b, `,"lasted":`, f.Lasted)
	if f.Back {
		b = append(b, `,"back":true`...)
	}
	return append(b, '}')
}

// closeObject drops the comma that stands first in the object begun at from.
func closeObject(b []byte, from int) []byte {
	if len(b) > from {
		b = append(b[:from], b[from+1:]...)
	}
	return append(b, '}')
}

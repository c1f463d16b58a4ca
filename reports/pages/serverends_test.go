package pages

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/text"
)

// Every form of a report says which server ended under a fault, when, and what it said last.
func TestServerEndsAreTold(t *testing.T) {
	setup := history.Setup{Keys: []string{"k"}, Clients: []string{"client-1"}, Servers: []string{"etcd-2"}}
	ops := []history.Op{{Time: 5e9, Node: "client-1", Type: history.Note, F: history.Stop}, {Index: 1, Time: 7.5e9, Node: "etcd-2", Type: history.Note, F: history.ServerEnd,
		Error: "exit status 2; its last words: panic: tocommit(11) is out of range <b>"}}
	r := checker.Judge(setup, ops)
	for name, render := range map[string]func(io.Writer) error{
		"text":     func(w io.Writer) error { return text.Write(w, reports.Run{}, setup, ops, r, text.Options{}) },
		"markdown": func(w io.Writer) error { return text.Markdown(w, reports.Run{}, setup, ops, r) },
		"html":     func(w io.Writer) error { return HTML(w, reports.Run{}, setup, ops, r) },
	} {
		var out bytes.Buffer
		if err := render(&out); err != nil {
			t.Fatal(name, err)
		}
		text := strings.Join(strings.Fields(strings.NewReplacer("\n", " ", `\`, "").Replace(out.String())), " ")
		for _, want := range []string{"etcd-2 ended by itself at 2.500 s", "tocommit(11) is out of range"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
		if name == "html" && strings.Contains(out.String(), "out of range <b>") {
			t.Error("its last words act as a page")
		}
	}
}

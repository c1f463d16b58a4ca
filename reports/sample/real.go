package sample

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/golden"
)

// Recorded reads the begin of a history that a real run recorded.
func Recorded(t *testing.T, name string) (history.Setup, []history.Op) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../testdata", "history-"+name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	setup, ops, err := history.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return setup, ops
}

// RealRuns are pieces of histories that real runs recorded.
var RealRuns = []string{"gc-pause-read-redis", "gc-pause-postgres", "gc-pause-etcd",
	"partition-majority-redlock", "partition-minority-etcd", "clock-jump-redlock", "orphan-etcd"}

// Same compares with a file in testdata.
func Same(t *testing.T, name string, got []byte) {
	t.Helper()
	golden.Compare(t, filepath.Join("testdata", name), got)
}

// Hostile is a text with markup and control characters of every format that a report is written in.
const Hostile = `</text></svg></script><script>alert(1)</script><img src=x onerror=alert(2)>"'& | @everyone **b** ` +
	`[x](javascript:alert(3)) https://evil.example` + "\x00\x1b[31m\u2028\uffff\r\n# head\n|a|b|\n<details>`${1}\\|"

// Fill puts a text wherever text comes from outside.
func Fill(r *Report, text string) {
	r.Run.Scenario, r.Run.Backend, r.Run.Library, r.Run.ID, r.Run.Title, r.Run.About = text, text, text, text, text, text
	r.Run.Command = append(r.Run.Command, text)
	r.Run.Options[text] = text
	r.Run.Options["fencing"] = text
	delete(r.Run.Options, "clients")
	for i := range r.Ops {
		if r.Ops[i].Key != "" {
			r.Ops[i].Key = text
		}
		if r.Ops[i].Node == "client-5" {
			r.Ops[i].Node = text
		}
		if r.Ops[i].Value != "" {
			r.Ops[i].Value += text
		}
		if r.Ops[i].Fault != nil {
			r.Ops[i].Fault.Proof, r.Ops[i].Fault.Kind = text, text
		}
	}
	r.Setup.Clients[4] = text
	r.Setup.Keys[0] = text
	for i := range r.Result.Properties {
		p := &r.Result.Properties[i]
		p.Reason = text
		for n := range p.Violations {
			p.Violations[n].Message, p.Violations[n].Key = text, text
		}
	}
	r.Result.Sentences = checker.Sentences{Promise: text, Unfenced: text, Fenced: text, WentOn: text}
}

// Shape is the elements of a page, without text and attribute values.
func Shape(t *testing.T, page []byte) string {
	t.Helper()
	var b strings.Builder
	z := html.NewTokenizer(bytes.NewReader(page))
	for z.Next() != html.ErrorToken {
		if tok := z.Token(); tok.Type != html.TextToken {
			b.WriteString(tok.Type.String() + " " + tok.Data)
			for _, a := range tok.Attr {
				b.WriteString(" " + a.Key)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// OnlyItsScript wants one script in a page, which its policy names by its digest.
func OnlyItsScript(t *testing.T, page []byte) {
	t.Helper()
	scripts := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllSubmatch(page, -1)
	if len(scripts) != 1 || bytes.Count(page, []byte("<script")) != 1 {
		t.Fatalf("%d scripts, want 1", bytes.Count(page, []byte("<script")))
	}
	sum := sha256.Sum256(scripts[0][1])
	if want := html.EscapeString("script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"); !bytes.Contains(page, []byte(want)) {
		t.Errorf("the policy does not let the script run: want %s", want)
	}
}

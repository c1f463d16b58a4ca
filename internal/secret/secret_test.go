package secret

import (
	"strings"
	"testing"
)

func TestEndpoint(t *testing.T) {
	for e, want := range map[string]string{
		"192.0.2.7:8080":                      "192.0.2.7:8080",
		"http://192.0.2.7:8080/a/b":           "http://192.0.2.7:8080/a/b",
		"http://user:geheim@h:1/a":            "http://user:***@h:1/a",
		"http://geheim@h:1":                   "http://***@h:1",
		"http://user:ge/he@im@h:1":            "http://user:***@h:1",
		"http://user:ge'heim@h:1":             "http://user:***@h:1",
		"user:geheim@h:1":                     "user:***@h:1",
		"grpc://h:1?token=geheim":             "grpc://h:1?token=***",
		"http://h/?a=geheim&b=geheim":         "http://h/?a=***&b=***",
		"http://h/?geheim":                    "http://h/?***",
		"http://h/?a=geheim#geheim":           "http://h/?a=***#***",
		"http://user:***@h:1":                 "http://user:***@h:1",
		"http://u:geheim@h:1/?key=geheim;x=y": "http://u:***@h:1/?key=***;x=***",
	} {
		if got := Endpoint(e); got != want || Endpoint(got) != got {
			t.Errorf("%s: %s, again %s; want %s", e, got, Endpoint(got), want)
		}
		if got := Mask("Post \"" + e + "\": refused"); strings.Contains(e, "://") && got != "Post \""+want+"\": refused" {
			t.Errorf("in a text: %s", got)
		}
	}
}

// Every URL of a text is found, and all of a password that a word has.
func TestURLsOfAText(t *testing.T) {
	for text, want := range map[string]string{
		"redis://u:ge heim@h:1":                              "redis://u:***@h:1",
		`--url=redis://u:ge"he<im>@h:1`:                      "--url=redis://u:***@h:1",
		"redis://u:geheim@h,redis://u:geheim@i":              "redis://u:***@h,redis://u:***@i",
		"sh -c x redis://u:geheim@h && y rediss://:geheim@i": "sh -c x redis://u:***@h && y rediss://:***@i",
		"[redis://u:geheim@h|a://geheim@h]":                  "[redis://u:***@h|a://***@h]",
		"see http://h/x and mail a@b":                        "see http://h/x and mail a@b",
		"none: //u:p@h":                                      "none: //u:p@h",
	} {
		if got := Mask(text); got != want || Mask(got) != got {
			t.Errorf("%s: %s, again %s; want %s", text, got, Mask(got), want)
		}
		if got := Filter(append(In(text), "never there")).Replace(text); strings.Contains(want, Hidden) && strings.Contains(got, "heim") {
			t.Errorf("%s: its words are %q", text, In(text))
		}
	}
}

// A secret is found however it is written.
func TestFilter(t *testing.T) {
	words := Of([]string{`http://u:ge"h%20eim@h:1/?key=other word`, "token1@h", "h:1", "http://h?abc"})
	f := Filter(words)
	for _, text := range []string{`ge"h%20eim`, `ge\"h%20eim`, `ge"h eim`, `ge%22h%20eim`, "other word", "other+word", "other%20word", "token1"} {
		if got := f.Replace("<" + text + ">"); strings.ContainsAny(got, "gok") {
			t.Errorf("%s: %s, of %q", text, got, words)
		}
	}
	// JSON in JSON, what HTTP sends, and a secret that begins with another.
	words = Of([]string{`http://us%65r:ge"heim@h:1`, "http://geheim@h", "http://u:geheimnis@h"})
	f = Filter(append(words, Forms("bearer")...))
	for _, text := range []string{`ge\\\"heim`, "dXNlcjpnZSJoZWlt", "Z2VoZWltOg==", "geheimnis"} {
		if got := f.Replace(text); got != Hidden {
			t.Errorf("%s: %s, of %q", text, got, words)
		}
	}
	if Filter(Of([]string{"h:1", "http://h:1/path"})) != nil {
		t.Error("no secret, and a filter")
	}
}

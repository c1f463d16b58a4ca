package agent

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/nemesis/agent/links/wire"
)

// Commands without what they need are refused, and the agent serves on.
func TestCommandsThatLackSomething(t *testing.T) {
	r := startAgent(t)
	for _, c := range []Command{{Do: Start}, {Do: Run}, {Do: Try}, {Do: ArmCheckpoint}, {Do: Inject}, {Do: Start, Child: &Child{}}, {Do: Run, Child: &Child{}},
		{Do: Try, Need: NeedTrace, Child: &Child{}}, {Do: Inject, Arm: &Arm{}}, {Do: Inject, Arm: &Arm{Kind: "cut-link"}}, {Do: Strike}, {Do: "\u202e"}} {
		if m := r.do(c); m.Error == "" || strings.Contains(m.Error, "mistake in dlmtest") {
			t.Errorf("%+v: %q", c, m.Error)
		}
	}
	for _, line := range []string{"{}", "null", "[]", `{"do":7}`, "\x00", strings.Repeat("[", 100000)} {
		if _, err := r.in.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	r.do(Command{Do: Sync})
}

// harmless is a command that a fuzzer has thought of, with what it could do to this
// machine taken out: programs, folders, packets, addresses.
func harmless(c Command) Command {
	if c.Do == Try && c.Need != NeedTrace {
		c.Need = ""
	}
	if c.Child != nil {
		spec := *c.Child
		spec.Env, spec.Data, spec.Dir, spec.Probe, spec.Clock, spec.Tells = nil, "", "", false, false, nil
		for i := range spec.Argv {
			spec.Argv[i] = [...]string{"sleep", "0.01", "0", "x"}[min(i, 3)]
		}
		if len(spec.Health) > 0 {
			spec.Health = []string{"true"}
		}
		for i := range spec.Links {
			spec.Links[i].Upstream, spec.Links[i].Listen = "127.0.0.1:1", "127.0.0.1:0"
		}
		spec.Links = spec.Links[:min(len(spec.Links), 3)]
		c.Child = &spec
	}
	if c.Arm != nil {
		arm := *c.Arm
		if arm.Kind == "partition" {
			arm.Kind = "pause"
		}
		arm.Max, arm.Min, arm.Limit = min(arm.Max, time.Second), min(arm.Min, time.Millisecond), min(arm.Limit, time.Millisecond)
		c.Arm = &arm
	}
	return c
}

// FuzzCommands holds that no lines from the runner, and none from the child, end the agent.
func FuzzCommands(f *testing.F) {
	link := []Link{{Name: "s", Upstream: "127.0.0.1:1", Protocol: wire.Redis, Listen: "127.0.0.1:0"}}
	for _, all := range [][]Command{
		{{Do: Start}, {Do: Inject}, {Do: ArmCheckpoint}, {Do: Run}, {Do: Try}},
		{{ID: 1, Do: Start, Child: &Child{Argv: []string{"sleep", "9"}, Links: link, Speaks: true, Bend: true}}, {ID: 2, Do: Inject, Arm: &Arm{Fault: 1, Kind: "pause", Max: 1}}, {ID: 3, Do: Heal, Fault: 1}},
		{{Do: Start, Child: &Child{Argv: []string{"sleep"}, Links: link}}, {Do: Inject, Arm: &Arm{Fault: 1, Kind: "hold-answer", Limit: 1, Asks: true, Params: Params{Link: &LinkFault{To: []string{"s"}}}}}, {Do: Strike, Fault: 1}, {Do: Kill}},
		{{Do: ArmCheckpoint, Arm: &Arm{Fault: -1, Kind: "clock", Checkpoint: "g", Asks: true}}, {Do: Disarm, Fault: -1}, {Do: Send, Line: json.RawMessage(`{}`)}, {Do: Cancel, Fault: 1}, {Do: Check}, {Do: Sync}},
	} {
		var lines []string
		for _, c := range all {
			line, _ := json.Marshal(c)
			lines = append(lines, string(line))
		}
		f.Add(strings.Join(lines, "\n"), `{"checkpoint":{"id":1,"checkpoint":"g","key":"k"}}`)
	}
	f.Add("{}\nnull\n[]\n\x00\n{\"do\":\"arm\",\"arm\":{\"kind\":\"hold\",\"checkpoint\":\"g\"}}", `{"op":{}}`+"\n"+`{"say":7}`+"\n{\"checkpoint\":null}\n\xff")
	f.Fuzz(func(t *testing.T, commands, said string) {
		r := startAgent(t)
		var lines []byte
		for line := range strings.SplitSeq(commands, "\n") {
			var c Command
			if json.Unmarshal([]byte(line), &c) != nil {
				lines = append(append(lines, line...), '\n')
				continue
			}
			line, err := json.Marshal(harmless(c))
			if err != nil {
				continue
			}
			lines = append(append(lines, line...), '\n')
		}
		spec := &Child{Argv: []string{"printf", "%s\n", strings.ReplaceAll(said, "\x00", "")}, Speaks: true}
		start, _ := json.Marshal(Command{Do: Start, Child: spec})
		go func() {
			_, _ = r.in.Write(append(append(append(start, '\n'), lines...), "{\"id\":77777,\"do\":\"sync\"}\n"...))
		}()
		r.until(func(m Message) bool {
			if strings.Contains(m.Error, "a mistake in dlmtest itself") {
				t.Fatal(m.Error)
			}
			return m.Re == 77777
		})
	})
}

package dlmtest

import (
	"testing"

	"github.com/dlmtest/dlmtest/runner/gate"
)

// Options become one gate: a cell a scenario, with what is expected of it.
func TestOptions(t *testing.T) {
	a := asked{lock: Lock{Name: "redislock", Backends: []string{"etcd"}}, flags: map[string]string{},
		expect: map[string]gate.Expectation{}, count: 1}
	if _, err := a.config(t.Name()); err == nil {
		t.Error("no scenario is no error")
	}
	for _, o := range []Option{
		Scenario("gc-pause"), Scenario("baseline"), Backend("redis"), Count(3), Flag("lease", "2s"), MustDetect("release-by-owner"),
	} {
		o(&a)
	}
	c, err := a.config(t.Name())
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Cells) != 2 || c.Count != 3 || c.Library != "redislock" {
		t.Errorf("%+v", c)
	}
	cell := c.Cells[1]
	if cell.Scenario != "baseline" || cell.Backend != "redis" || cell.Flags["lease"] != "2s" || cell.Others != gate.NotJudged ||
		cell.Expect["release-by-owner"].Is != gate.MustDetect {
		t.Errorf("%+v", cell)
	}
	Count(0)(&a)
	if _, err := a.config(t.Name()); err == nil {
		t.Error("Count(0) is no error")
	}
}

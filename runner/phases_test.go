package runner

import (
	"testing"
	"time"
)

// A run knows how long each of its phases took, whatever a user is told besides.
func TestPhases(t *testing.T) {
	p := &phases{Progress: silent{}}
	begun := time.Now()
	p.Phase("up")
	time.Sleep(20 * time.Millisecond)
	p.Line("a word on it")
	p.Phase("load")
	p.Live(Counts{}, 0.5)
	all := p.over()
	if len(all) != 2 || all[0].Name != "up" || all[1].Name != "load" || all[0].Took < 20*time.Millisecond || all[0].Took+all[1].Took > time.Since(begun) {
		t.Errorf("%+v", all)
	}
}

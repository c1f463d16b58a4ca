package agent

import "testing"

func TestParseStat(t *testing.T) {
	tests := []struct {
		name, line string
		want       stat
		bad        bool
	}{
		{"plain", "12 (sh) T 1 12 12 0 -1 4194304 100 0 0 0 3 4 0 0 20 0 1 0", stat{state: 'T', ppid: 1, group: 12, home: 12, ticks: 7}, false},
		{"a name with parentheses and spaces", "12 (a) R (b) S 9 12 12 0 -1 4194304 100 0 0 0 3 4 0 0 20 0 1 0", stat{state: 'S', ppid: 9, group: 12, home: 12, ticks: 7}, false},
		{"cut", "12 (sh) T 1", stat{}, true},
		{"empty", "", stat{}, true},
		{"no numbers", "12 (sh) T x 12 12 0 -1 4194304 100 0 0 0 a b 0 0", stat{}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseStat([]byte(test.line))
			if (err != nil) != test.bad || got != test.want {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

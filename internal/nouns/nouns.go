// Package nouns counts things in words.
package nouns

import "fmt"

// Count writes "1 grant", "2 grants".
func Count(n int, noun string) string { return Irregular(n, noun, noun+"s") }

// Irregular writes "1 property", "2 properties".
func Irregular(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

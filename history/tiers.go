package history

import "strings"

// Tiers groups servers by what they do, which their names tell: etcd-1 and etcd-2 are
// one tier, lockservice-1 another. A service of two tiers serves as long as it has a
// majority of each. Names without a number are one tier together.
func Tiers(servers []string) [][]string {
	var tiers [][]string
	at := map[string]int{}
	for _, s := range servers {
		role := ""
		if i := strings.LastIndexByte(s, '-'); i >= 0 && i+1 < len(s) && strings.Trim(s[i+1:], "0123456789") == "" {
			role = s[:i]
		}
		i, ok := at[role]
		if !ok {
			i, at[role] = len(tiers), len(tiers)
			tiers = append(tiers, nil)
		}
		tiers[i] = append(tiers[i], s)
	}
	return tiers
}

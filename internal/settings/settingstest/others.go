// Package settingstest gives tests settings that differ from the defaults, one at a time,
// so that each test which passes settings on asks for every one of them, also for those
// that are added later.
package settingstest

import "github.com/dlmtest/dlmtest/internal/settings"

// Other is one setting with a value that is not its default.
type Other struct {
	settings.Field
	Settings settings.Settings // that one alone
}

// values are those of settings that take no value but one of their own kind.
var values = map[string]string{"library": "redsync@v4.13.0", "adapter-files": "/", "client-image": "mine:1",
	"fsync": "always", "etcd": "3.6.16", "compose": "/srv/compose.yml"}

// Others are all settings, each changed.
func Others() (all []Other) {
	for _, f := range settings.Fields() {
		o := Other{Field: f}
		switch v := f.Ptr(&o.Settings).(type) {
		case *bool:
			*v = true
		case *int:
			*v = 2
		case *settings.Timeout:
			*v = "lease"
		case *[]string:
			*v = []string{"http://192.0.2.1:80/", "http://192.0.2.2:80/"}
		case *string:
			*v = values[f.Flag]
			for _, word := range f.Words {
				if word != f.Default {
					*v = word
				}
			}
		}
		all = append(all, o)
	}
	return all
}

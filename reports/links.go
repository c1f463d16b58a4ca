package reports

// linkWords tell of the faults of a client's links: their begin, their end, and what
// is meanwhile.
var linkWords = map[string]struct{ begins, ends, meanwhile string }{
	"latency":      {"The links of %s get slow.", "The links of %s are fast again", "while its links are slow"},
	"bandwidth":    {"The links of %s get narrow.", "The links of %s are wide again", "while its links are narrow"},
	"reset":        {"The links of %s break, as often as they are made.", "The links of %s can be made again", "while its links are broken"},
	"blackhole":    {"The links of %s take everything and deliver nothing.", "The links of %s deliver again", "while its links deliver nothing"},
	"hold-request": {"What %s sends is held up on its link.", "What %s has sent goes on its way", "while its requests are held up"},
	"hold-answer":  {"What %s is answered is held up on its link.", "What %s was answered goes on its way", "while its answers are held up"},
	"cut-link":     {begins: "The link of %s is cut.", meanwhile: "after its link was cut"}, // a new connection works at once
}

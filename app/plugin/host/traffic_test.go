package host

import (
	"fmt"
	"strings"
	"testing"
)

func TestMC109TheLastMessagesAreHeldCutAndWithoutSecrets(t *testing.T) {
	var m redactor
	const secret = `pass"wörd<1>`
	m.add(secret)
	var kept traffic
	for n := range trafficMessages + 3 {
		kept.add(n%2 == 0, fmt.Appendf(nil, `{"id":%d}`, n))
	}
	kept.add(true, []byte(`["pass\"wörd<1>", "pass\"w\u00f6rd<1>", "pass\"wörd\u003c1\u003e"]`))
	kept.add(false, []byte(strings.Repeat("x", trafficBytes-9)+secret))
	lines := kept.lines(&m)
	if len(lines) != trafficMessages || lines[0].Text != `← {"id":5}` || lines[1].Text != `→ {"id":6}` {
		t.Fatalf("got %d, %q, %q", len(lines), lines[0].Text, lines[1].Text)
	}
	if got := lines[trafficMessages-2].Text; got != `→ ["•••", "•••", "•••"]` {
		t.Errorf("got %s", got)
	}
	if got := lines[trafficMessages-1].Text; strings.Contains(got, "p") || !strings.HasSuffix(got, "x …") {
		t.Errorf("it ends with %q", got[len(got)-40:])
	}
}

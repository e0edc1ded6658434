package language

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestTheSystemsLanguageIsThatOfTheEnvironment(t *testing.T) {
	for locale, want := range map[string]Language{
		"zh_CN.UTF-8": Chinese, "zh-Hans": Chinese, "zh": Chinese, "C": English, "de_DE.UTF-8": English,
	} {
		t.Setenv("LC_ALL", locale)
		if got := Of(System, os.Getenv); got != want {
			t.Errorf("%s is %q, want %q", locale, got, want)
		}
		if got := Of(English, os.Getenv); got != English {
			t.Errorf("a choice gives way to the system's %s", locale)
		}
	}
	t.Setenv("LC_ALL", "")
	t.Setenv("LC_MESSAGES", "zh_TW.UTF-8")
	t.Setenv("LANG", "en_US.UTF-8")
	if got := Of(System, os.Getenv); got != Chinese {
		t.Errorf("LC_MESSAGES gives way to LANG: %q", got)
	}
}

func TestASentenceIsSaidInTheLanguageWithItsValues(t *testing.T) {
	for english, want := range map[string]string{
		"Acme did not accept the key (401).":                     "Acme 拒绝了密钥（401）。",
		"There is no key for Acme. Add it in Settings > Models.": "没有 Acme 的密钥。请在“设置 > 模型”中添加。",
		"Asked because: it would write files.":                   "询问原因：它会写入文件。",
		"gpt wants to run “Save” and write files with Notes":     "gpt 想用 Notes 运行“Save”、写入文件",
		"Acme accepts no further requests for 20 s.":             "Acme 在 20 秒内不再接受请求。",
		"There is no plugin named x. There are: a, b, c.":        "没有名为 x 的插件。现有：a、b、c。",
		"The plugin x did not load: x.py: x.py is empty.":        "插件 x 未能加载：x.py：x.py 为空。",
		"The plugin x is odd and has not been approved.":         "The plugin x is odd and has not been approved.",
		"There is no model server for x at host (404). Fine.":    "在 host（404）找不到 x 的模型服务器。 Fine.",
		"It is odd.":                         "It is odd.",
		"The disk is full. It is odd. Fine.": "磁盘已满。 It is odd. Fine.",
		// Half a sentence is no name.
		"It knows its name, also where it may not read files.": "It knows its name, also where it may not read files.",
		// A title that holds “with” could be read in two ways, and is not.
		"gpt wants to run “Copy with care” with Notes": "gpt wants to run “Copy with care” with Notes",
	} {
		if got := Text(Chinese, english); got != want {
			t.Errorf("%s\n is %s\nwant %s", english, got, want)
		}
		if got := Text(English, english); got != english {
			t.Errorf("English changes %q to %q", english, got)
		}
	}
}

func TestEachValueOfASentenceIsInItsChinese(t *testing.T) {
	c := chineseSentences()
	for _, p := range c.patterns {
		for i := range len(p.words) - 1 {
			number := strconv.Itoa(i + 1)
			if !strings.Contains(p.says, "{"+number+"}") && !strings.Contains(p.says, "<"+number+">") {
				t.Errorf("%s lacks value %s of %q", p.says, number, p.words)
			}
		}
	}
}

package language

import "golang.org/x/sys/windows"

// preferred returns the first language of the person's list, as "zh-CN".
func preferred() string {
	names, err := windows.GetUserPreferredUILanguages(windows.MUI_LANGUAGE_NAME)
	if err != nil || len(names) == 0 {
		return ""
	}
	return names[0]
}

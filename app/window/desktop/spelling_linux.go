//go:build cgo

package desktop

/*
#cgo !webkit2_41 pkg-config: webkit2gtk-4.0
#cgo webkit2_41 pkg-config: webkit2gtk-4.1
#include <webkit2/webkit2.h>

static gboolean check_spelling(gpointer languages) {
	WebKitWebContext *context = webkit_web_context_get_default();
	webkit_web_context_set_spell_checking_languages(context, (const gchar *const *)languages);
	webkit_web_context_set_spell_checking_enabled(context, TRUE);
	g_strfreev((gchar **)languages);
	return G_SOURCE_REMOVE;
}

static gboolean first_key(GSignalInvocationHint *hint, guint n, const GValue *values, gpointer languages) {
	g_idle_add(check_spelling, languages);
	return FALSE; // it is not called again
}

static gboolean await_key(gpointer languages) {
	guint key = g_signal_lookup("key-press-event", GTK_TYPE_WIDGET);
	g_signal_add_emission_hook(key, 0, first_key, languages, NULL);
	return G_SOURCE_REMOVE;
}

// check_spelling_later runs it where GTK runs, once a key was pressed; languages is a list with commas.
static void check_spelling_later(const char *languages) {
	g_idle_add(await_key, g_strsplit(languages, ",", -1));
}
*/
import "C"

import (
	"os"
	"slices"
	"strings"
	"unsafe"
)

// checkSpelling has the web view mark words that no dictionary of the person's languages has.
// Wails does not offer it, but has its page in the context that WebKitGTK calls default. Dictionaries
// are megabytes of memory, and are read once somebody writes.
func checkSpelling() {
	languages := C.CString(strings.Join(spellingLanguages(os.Getenv), ","))
	defer C.free(unsafe.Pointer(languages))
	C.check_spelling_later(languages)
}

// spellingLanguages returns the languages that the environment names, as dictionaries are named:
// “de_DE”. English is always one of them, in which code and tools are written.
func spellingLanguages(env func(string) string) []string {
	var languages []string
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if said := env(name); said != "" {
			languages = strings.Split(env("LANGUAGE"), ":")
			languages = append(languages, said)
			break
		}
	}
	for i, one := range languages {
		one, _, _ = strings.Cut(one, "@")
		languages[i], _, _ = strings.Cut(one, ".")
	}
	languages = slices.DeleteFunc(languages, func(one string) bool { return one == "" || one == "C" || one == "POSIX" })
	if !slices.ContainsFunc(languages, func(one string) bool { return strings.HasPrefix(one, "en") }) {
		languages = append(languages, "en_US")
	}
	return slices.Compact(languages)
}

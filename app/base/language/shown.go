package language

import (
	"reflect"
	"sync"
)

// Shown returns what the window shows with its texts in the window's language: those of the
// fields that have the tag say:"true", texts and lists of texts, at any depth. What v shares with
// others is not changed.
func Shown[T any](v T) T {
	l, _ := reads.Load().(Language)
	return ShownIn(l, v)
}

// ShownIn is [Shown] in a language.
func ShownIn[T any](l Language, v T) T {
	if l == Chinese {
		say(reflect.ValueOf(&v).Elem(), l)
	}
	return v
}

// says reports, by type, whether values of it hold texts to be said.
var says sync.Map

// holds is says of a type. A type that holds itself is looked at once.
func holds(t reflect.Type) bool {
	if known, found := says.Load(t); found {
		return known.(bool)
	}
	says.Store(t, false)
	does := false
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		does = holds(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			does = f.IsExported() && (f.Tag.Get("say") != "" || holds(f.Type)) || does
		}
	}
	says.Store(t, does)
	return does
}

// say puts the texts of a value that can be set into a language.
func say(v reflect.Value, l Language) {
	if !holds(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			own := reflect.New(v.Type().Elem())
			own.Elem().Set(v.Elem())
			say(own.Elem(), l)
			v.Set(own)
		}
	case reflect.Slice:
		own(v)
		for i := range v.Len() {
			say(v.Index(i), l)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch field := v.Field(i); {
			case v.Type().Field(i).Tag.Get("say") == "":
				say(field, l)
			case field.Kind() == reflect.String:
				field.SetString(Text(l, field.String()))
			default:
				own(field)
				for i := range field.Len() {
					field.Index(i).SetString(Text(l, field.Index(i).String()))
				}
			}
		}
	}
}

// own gives a slice elements that it shares with no other.
func own(slice reflect.Value) {
	all := reflect.MakeSlice(slice.Type(), slice.Len(), slice.Len())
	reflect.Copy(all, slice)
	if !slice.IsNil() {
		slice.Set(all)
	}
}

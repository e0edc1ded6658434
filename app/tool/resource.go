package tool

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// resource is a schema with an address, in which references are looked up. A compiled schema
// has at least one.
type resource struct {
	base     *url.URL
	location string // of its root
	draft    draft

	anchors   map[string]string // locations by name
	dynamic   map[string]string // those whose names are looked up when a value is checked
	recursive bool              // its root has a $recursiveAnchor
}

// place is a schema as it is written, and the resource that it is in.
type place struct {
	value    any
	location string // a JSON Pointer from the root, behind the address of another document
	in       *resource
}

// draftOf returns the draft that a schema names, or otherwise.
func draftOf(schema any, otherwise draft) (draft, error) {
	object, _ := schema.(map[string]any)
	address, ok := object["$schema"].(string)
	if !ok {
		return otherwise, nil
	}
	d, ok := draftAt(address)
	if !ok {
		return 0, fmt.Errorf("it is written in the draft %q, which Conclave does not know", address)
	}
	return d, nil
}

// collect checks the shape of a schema and notes all schemas in it.
func (c *compiled) collect(p place, d draft) error {
	if err := d.checkShape(p.value); err != nil {
		return err
	}
	return c.note(p)
}

// note notes p and the schemas in it, with their addresses and names.
func (c *compiled) note(p place) error {
	if _, known := c.places[p.location]; known {
		return nil
	}
	object, ok := p.value.(map[string]any)
	if ok {
		var err error
		if p.in, err = c.named(p, object); err != nil {
			return err
		}
	}
	if c.written += len(p.location); c.written > maxLocations {
		return errNames
	}
	c.places[p.location] = p
	c.order = append(c.order, p.location)
	if !ok {
		return nil
	}
	return p.in.draft.eachSchema(object, func(way string, schema any) error {
		return c.note(place{schema, p.location + way, p.in})
	})
}

// named notes the address and the names that a schema gives itself, and returns the resource
// that it is in: a new one if it has an address.
func (c *compiled) named(p place, object map[string]any) (*resource, error) {
	d, err := draftOf(object, p.in.draft)
	if err != nil {
		return nil, err
	}
	keyword := "$id"
	if d == draft4 {
		keyword = "id"
	}
	id, _ := object[keyword].(string)
	if _, refers := object["$ref"].(string); refers && d < draft2019 {
		id = "" // what stands next to a reference counts for nothing
	}
	address, name, _ := strings.Cut(id, "#")
	in := p.in
	if address != "" {
		base, err := in.base.Parse(address)
		if err != nil {
			return nil, fmt.Errorf("its address %s cannot be read", cut(id))
		}
		if len(base.String()) > maxAddress {
			return nil, fmt.Errorf("its address %s is longer than %d characters", cut(id), maxAddress)
		}
		if p.location == in.location { // the root's
			in.base = base
		} else {
			in = &resource{base: base, location: p.location, draft: d}
		}
		if other, used := c.resources[base.String()]; used && other != in {
			return nil, fmt.Errorf("it uses the address %s twice", cut(id))
		}
		c.resources[base.String()] = in
	}
	if d < draft2019 {
		return in, in.name(&in.anchors, name, p.location)
	}
	anchor, _ := object["$anchor"].(string)
	if err := in.name(&in.anchors, anchor, p.location); err != nil {
		return nil, err
	}
	if recursive, _ := object["$recursiveAnchor"].(bool); recursive && p.location == in.location {
		in.recursive = true
	}
	dynamic, _ := object["$dynamicAnchor"].(string)
	if d < draft2020 || dynamic == "" {
		return in, nil
	}
	if err := in.name(&in.anchors, dynamic, p.location); err != nil {
		return nil, err
	}
	return in, in.name(&in.dynamic, dynamic, p.location)
}

// name gives the schema at location a name among names.
func (r *resource) name(names *map[string]string, name, location string) error {
	if name == "" {
		return nil
	}
	if other, used := (*names)[name]; used && other != location {
		return fmt.Errorf("it uses the name %s twice", cut(name))
	}
	if *names == nil {
		*names = map[string]string{}
	}
	(*names)[name] = location
	return nil
}

// resolve returns the schema that a reference from within in leads to, and its fragment.
func (c *compiled) resolve(reference string, in *resource) (n *node, fragment string, err error) {
	to, err := in.base.Parse(reference)
	if err != nil {
		return nil, "", fmt.Errorf("it refers to %s, which is no address", cut(reference))
	}
	fragment = to.Fragment
	to.Fragment, to.RawFragment = "", ""
	target, err := c.resource(to.String())
	if err != nil {
		return nil, "", err
	}
	location, found := target.location, true
	switch {
	case strings.HasPrefix(fragment, "/"):
		location, found, err = c.follow(target, fragment)
	case fragment != "":
		location, found = target.anchors[fragment]
	}
	if err != nil {
		return nil, "", err
	}
	if !found {
		return nil, "", fmt.Errorf("it refers to %s#%s, which is not there", strings.TrimPrefix(to.String(), here), fragment)
	}
	n, err = c.nodeAt(location)
	return n, fragment, err
}

// resource returns the one at an address. Nothing is opened for it: it is in the schema, or
// the schema of a draft.
func (c *compiled) resource(address string) (*resource, error) {
	if r, ok := c.resources[address]; ok {
		return r, nil
	}
	d, ok := draftAt(address)
	if !ok {
		return nil, fmt.Errorf("it refers to %s, which Conclave does not open", strings.TrimPrefix(address, here))
	}
	address = "https://" + draftPaths[d] // one for all ways to write it
	if r, ok := c.resources[address]; ok {
		return r, nil
	}
	base, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	r := &resource{base: base, location: address, draft: draft2020}
	c.resources[address] = r
	return r, c.note(place{d.metaschema(), address, r})
}

// follow returns the location that a JSON Pointer leads to from a resource. It may be one
// where the drafts have no schema; what lies there is taken for one.
func (c *compiled) follow(from *resource, pointer string) (location string, found bool, err error) {
	at := c.places[from.location]
	for step := range strings.SplitSeq(pointer[1:], "/") {
		name := strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch v := at.value.(type) {
		case map[string]any:
			if at.value, found = v[name]; !found {
				return "", false, nil
			}
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) || strconv.Itoa(i) != name { // 01 is no index
				return "", false, nil
			}
			at.value = v[i]
		default:
			return "", false, nil
		}
		at.location += "/" + escaped(name)
		if known, ok := c.places[at.location]; ok {
			at.in = known.in
		}
	}
	if _, known := c.places[at.location]; known {
		return at.location, true, nil
	}
	return at.location, true, c.collect(at, at.in.draft)
}

// escaped returns a name as a step of a JSON Pointer (RFC 6901).
func escaped(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

func sortedNames[V any](object map[string]V) []string { return slices.Sorted(maps.Keys(object)) }

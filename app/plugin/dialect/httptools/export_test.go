package httptools

import "encoding/json"

// RecordOf returns a registration as it is kept.
func RecordOf(name, callback, source string, order uint64) (id string, raw json.RawMessage) {
	addresses, err := callbackAddress(callback)
	if err != nil {
		panic(err)
	}
	r := Registration{
		Name: name, Description: "Does one thing of a thousand.", Parameters: emptySchema, CallbackURL: callback,
		Source: source, Timeout: usualTimeout, Address: addresses[0], Order: order,
	}
	raw, err = json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return r.id(), raw
}

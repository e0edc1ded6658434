package permit

import "reflect"

// StoredRequest is the type of a request as it is stored.
var StoredRequest = reflect.TypeFor[storedRequest]()

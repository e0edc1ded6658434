package packages

import "conclave/app/test/testkit"

var write = testkit.Write

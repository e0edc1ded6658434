package permit

import "slices"

// walls are the permissions that open the walls around a plugin's process. They
// are louder than others: approving a plugin that asks for one does not grant it.
var walls = []string{"network", "programs", "filesystem"}

// withoutWalls returns what of permissions an approval grants.
func withoutWalls(permissions []string) []string {
	return slices.DeleteFunc(slices.Clone(permissions), func(p string) bool { return slices.Contains(walls, p) })
}

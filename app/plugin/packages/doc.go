// Package environment finds the packages that a Python plugin wants and, when a
// person says so, puts them into a virtual environment of the plugin's own.
//
// What a plugin declares (a PEP 723 block, requirements.txt, pyproject.toml,
// setup.cfg, _manifest.json) and what its imports say is read, never run. The
// installer runs behind the same walls as a plugin, may write the environment's
// folder and nothing else, and takes wheels only, so that no code of a package
// runs before the plugin itself does. The system's Python and other plugins'
// environments are never touched.
//
// No dialect is known here, and nothing is decided: whether a plugin may be
// loaded without its packages is the host's question. Read [Environments] first;
// docs/PACKAGES.md is the same for a person.
package packages

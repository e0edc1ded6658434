package window

import "conclave/app/plugin"

// InstallPackages installs what the plugin needs into its own environment, in
// the background; digest identifies the list that the person read, else kind conflict.
// build lets code of packages run during the installation, elsewhere lets packages
// come from where the plugin says. Of those that nobody declared, only the ones in
// guessed are installed.
func (p *Plugins) InstallPackages(id, digest string, build, elsewhere bool, guessed []string) error {
	return p.core.Packages.Start(id, digest, plugin.InstallOptions{Build: build, Elsewhere: elsewhere, Guessed: guessed})
}

// StopPackages ends the installation under way; what arrived is kept for another.
// None is no error.
func (p *Plugins) StopPackages(id string) error { return p.core.Packages.Stop(id) }

// RemovePackages deletes the plugin's environment.
func (p *Plugins) RemovePackages(id string) error { return p.core.Packages.Remove(id) }

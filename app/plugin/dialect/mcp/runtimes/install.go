package runtimes

import (
	"os/exec"
	"runtime"
	"strings"
)

// managers are the programs that install others, in the order in which they are looked for.
var managers = map[string][]string{
	"linux":   {"apt", "dnf", "pacman", "zypper", "brew", "npm"},
	"darwin":  {"brew", "npm"},
	"windows": {"winget", "npm"},
}

// packages are the names of a runtime in each manager. Where one has none, the next is asked.
var packages = map[string]map[string]string{
	"node": {
		"apt": "nodejs npm", "dnf": "nodejs npm", "pacman": "nodejs npm", "zypper": "nodejs npm", "brew": "node",
		"winget": "OpenJS.NodeJS.LTS",
	},
	"uv": {"dnf": "uv", "pacman": "uv", "brew": "uv", "winget": "astral-sh.uv"},
	"python": {
		"apt": "python3", "dnf": "python3", "pacman": "python", "zypper": "python3", "brew": "python",
		"winget": "Python.Python.3.13",
	},
	"docker": {
		"apt": "docker.io", "dnf": "moby-engine", "pacman": "docker", "zypper": "docker", "brew": "--cask docker",
		"winget": "Docker.DockerDesktop",
	},
	"bun":  {"brew": "oven-sh/bun/bun", "winget": "Oven-sh.Bun", "npm": "bun"},
	"deno": {"pacman": "deno", "brew": "deno", "winget": "DenoLand.Deno", "npm": "deno"},
	"dotnet": {
		"dnf": "dotnet-sdk-10.0", "pacman": "dotnet-sdk", "brew": "--cask dotnet-sdk",
		"winget": "Microsoft.DotNet.SDK.10",
	},
}

// installs are the commands of the managers, before the names of packages.
var installs = map[string]string{
	"apt": "sudo apt install", "dnf": "sudo dnf install", "pacman": "sudo pacman -S", "zypper": "sudo zypper install",
	"brew": "brew install", "winget": "winget install", "npm": "npm install --global",
}

// Installs returns the command that installs a runtime on this system, which the person runs; empty where nobody
// knows one. It is never run here.
func Installs(name string) string {
	return installsWith(name, runtime.GOOS, func(manager string) bool {
		_, err := exec.LookPath(manager)
		return err == nil
	})
}

func installsWith(name, system string, there func(manager string) bool) string {
	for _, manager := range managers[system] {
		if of := packages[name][manager]; of != "" && there(manager) {
			return installs[manager] + " " + of
		}
	}
	if name == "uv" && system == "linux" && there("apt") { // Debian has no package of it
		return strings.Join([]string{"sudo apt install pipx", "pipx install uv"}, " && ")
	}
	return ""
}

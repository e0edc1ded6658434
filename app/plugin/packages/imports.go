package packages

import "strings"

// packageOf are the modules whose package is named otherwise, as the packages'
// own metadata on the Python Package Index names (top_level.txt, or the files of
// their wheels). A module that is not here is looked for under its own name.
var packageOf = map[string]string{
	"Crypto": "pycryptodome", "IPython": "ipython", "Levenshtein": "levenshtein", "MySQLdb": "mysqlclient",
	"OpenGL":  "pyopengl",
	"OpenSSL": "pyopenssl", "PIL": "pillow", "Xlib": "python-xlib", "attr": "attrs", "barcode": "python-barcode",
	"bs4": "beautifulsoup4",
	"cv2": "opencv-python", "dateutil": "python-dateutil", "discord": "discord-py", "dns": "dnspython",
	"docx":   "python-docx",
	"dotenv": "python-dotenv", "faiss": "faiss-cpu", "ffmpeg": "ffmpeg-python", "fitz": "pymupdf", "git": "gitpython",
	"jose": "python-jose",
	"jwt":  "pyjwt", "ldap": "python-ldap", "magic": "python-magic", "mpl_toolkits": "matplotlib",
	"multipart": "python-multipart",
	"mysql":     "mysql-connector-python", "nacl": "pynacl", "pkg_resources": "setuptools", "pptx": "python-pptx",
	"psycopg2": "psycopg2-binary",
	"pylab":    "matplotlib", "pythoncom": "pywin32", "ruamel": "ruamel-yaml", "serial": "pyserial",
	"skimage": "scikit-image",
	"sklearn": "scikit-learn", "slugify": "python-slugify", "socks": "pysocks", "speech_recognition": "speechrecognition",
	"telegram": "python-telegram-bot", "usb": "pyusb", "websocket": "websocket-client", "win32api": "pywin32",
	"win32con": "pywin32",
	"win32gui": "pywin32", "wx": "wxpython", "yaml": "pyyaml", "zmq": "pyzmq",
}

// nobodys are names that plugins import from the programs they were written for,
// and that no package of an index stands for.
var nobodys = map[string]bool{"plugins": true, "src": true, "plugin": true}

// packageNamed returns the package that a module is looked for in.
func packageNamed(module string) string {
	if name, ok := packageOf[module]; ok {
		return name
	}
	return canonical(module)
}

// modulesOf returns the modules that a package is likely to bring.
func modulesOf(name string) []string {
	modules := []string{strings.ReplaceAll(canonical(name), "-", "_"), strings.ReplaceAll(name, "-", "_")}
	for module, of := range packageOf {
		if of == canonical(name) {
			modules = append(modules, module)
		}
	}
	return modules
}

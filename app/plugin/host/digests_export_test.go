package host

// FilesRead returns how many files were read for digests of a plugin, 0 for one that is not there.
func FilesRead(h *Host, id string) int64 {
	if e := h.entry(id); e != nil {
		return e.files.looks.Read()
	}
	return 0
}

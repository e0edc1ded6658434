package limit

// What a plugin keeps on this computer.
var (
	// Desk and DeskFiles bound the copy of a plugin's files that it may write to.
	Desk = add(Limit{
		Name: "files of a plugin that are copied to where it may write", Value: 128 << 20, Unit: Bytes,
		Why:    "they are copied at a start; the largest real plugin that writes beside its code has 40 MB",
		Person: "It has too many files to be given a copy that it may write to; beside its code it can only read.",
		Test:   "app/plugin/place TestAFolderThatIsTooLargeIsNotCopied",
	})
	DeskFiles = add(Limit{
		Name: "number of a plugin's files that are copied to where it may write", Value: 5000, Unit: Count,
		Why:    "each is looked at whenever the plugin starts: 5,000 take 40 ms",
		Person: Desk.Person,
		Test:   "app/plugin/place TestAFolderThatIsTooLargeIsNotCopied",
	})
)

package limit

// What a plugin keeps on this computer.
var (
	// WritableCopy and WritableCopyFiles bound the copy of its files that a plugin may write to.
	WritableCopy = add(Limit{
		Name: "size of a plugin's writable copy", Value: 128 << 20, Unit: Bytes,
		Why:    "copied at a start; the largest real plugin has 40 MB",
		Person: "It has too many files to be given a copy that it may write to; beside its code it can only read.",
		Test:   "app/plugin/safefs TestAFolderThatIsTooLargeIsNotCopied",
	})
	WritableCopyFiles = add(Limit{
		Name: "files in a plugin's writable copy", Value: 5000, Unit: Count,
		Why:    "checked at each start: 5,000 take 40 ms",
		Person: WritableCopy.Person,
		Test:   "app/plugin/safefs TestAFolderThatIsTooLargeIsNotCopied",
	})
)

// The quota of a plugin's storage.
var (
	StorageBytes = add(Limit{
		Name: "bytes in a plugin's storage", Value: 512 << 20, Unit: Bytes,
		Why: "the largest real plugin keeps 40 MB",
		Person: "Its storage folder holds more than 512 MiB or 10,000 files, or folders that are too deep or too " +
			"locked to be counted, so it was stopped. Delete what it does not need, then reload it.",
		Model: "the plugin's storage is full: it may hold 512 MiB and 10,000 files",
		Test:  "app/plugin/hosttest TestAPluginThatFillsItsStorageIsStopped",
	})
	StorageFiles = add(Limit{
		Name: "files and folders in a plugin's storage", Value: 10_000, Unit: Count,
		Why:    "counted while it works: 10,000 take 20 ms",
		Person: StorageBytes.Person, Model: StorageBytes.Model,
		Test: "app/plugin/hosttest TestAPluginThatFillsItsStorageIsStopped",
	})
	StorageDepth = add(Limit{
		Name: "depth of a folder that a plugin may write", Value: 100, Unit: Levels,
		Why:    "real packages have ten; opening one at depth 3,000 took 20 s",
		Person: StorageBytes.Person,
		Model:  "it lies in more than 100 folders, more than are opened",
		Test:   "app/plugin/safefs TestAttackFoldersWithoutEndAreNotOpened",
	})
)

// Old versions of files that calls change.
var (
	UndoFile = add(Limit{
		Name: "a file of which old versions are kept", Value: 64 << 20, Unit: Bytes,
		Why:    "each change costs a copy; written files are far below",
		Person: "larger than 64 MiB",
		Test:   "app/record/undo TestWhatIsTooLargeIsSaidNotToBeKept",
	})
	UndoFolder = add(Limit{
		Name: "size of a folder copied before a call", Value: 256 << 20, Unit: Bytes,
		Why:    "copied in half a second, the smallest first",
		Person: "its folder has more than 256 MiB of smaller files",
		Test:   "app/record/undo TestWhatIsTooLargeIsSaidNotToBeKept",
	})
	UndoFiles = add(Limit{
		Name: "watched files and folders of one folder", Value: 20_000, Unit: Count,
		Why:    "checked before and after each call: 20,000 take 60 ms",
		Person: "The folder has more than 20,000 files; changes to those beyond are not seen.",
		Test:   "app/record/undo TestAFolderWithTooManyFilesIsWatchedAsFarAsThat",
	})
	UndoBytes = add(Limit{
		Name: "bytes of old versions in all", Value: 1 << 30, Unit: Bytes,
		Why:    "the oldest go first",
		Person: "No more old versions than 1 GiB are kept: the oldest were removed.",
		Test:   "app/record/undo TestTheOldestVersionsGoFirstWhenThereIsTooMuch",
	})
)
